// Package size holds sizes that tests reduce to exercise the behavior of large tables with small ones.
package size

var (
	// WakeEvery is the number of entities after which the reader of a range wakes idle workers, so that they can divide
	// the range.
	WakeEvery int64 = 1000
	// WorthDividing is the minimum number of unread entities for a range to be divided.
	WorthDividing = 4000
	// Object is the size in bytes before compression at which an exported object is complete. A larger size would need
	// more memory, because a whole object is in memory until it is stored.
	Object = 4 << 20
)
