// Package size holds sizes that tests reduce, so that small tables behave like large tables.
package size

var (
	// WakeEvery is the number of entities of a range after which idle workers check again whether the
	// range is large enough to be divided.
	WakeEvery int64 = 1000
	// WorthDividing is the minimum number of unread entities in a range that is divided.
	WorthDividing = 4000
	// Object is the size of the text in one object of an export. The whole object is in memory until
	// it is stored.
	Object = 4 << 20
)
