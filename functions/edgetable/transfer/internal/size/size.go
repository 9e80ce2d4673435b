// Package size holds sizes that tests reduce to exercise the behavior of large tables with small ones.
package size

var (
	// WakeEvery is the number of entities after which a range that is being read wakes idle workers, which may divide
	// it.
	WakeEvery int64 = 1000
	// WorthDividing is the minimum number of unread entities for a range to be divided.
	WorthDividing = 4000
	// Object is the size in bytes of the uncompressed text of an exported object. The whole object is in memory until
	// it is stored.
	Object = 4 << 20
)
