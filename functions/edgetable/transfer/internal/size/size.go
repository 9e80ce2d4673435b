// Package size holds sizes that tests reduce, so that small tables behave like large ones.
package size

var (
	// WakeEvery is the number of entities of a range after which idle workers check again whether the
	// range is worth dividing.
	WakeEvery int64 = 1000
	// WorthDividing is the minimum number of remaining entities of a range that is divided.
	WorthDividing = 4000
	// Object is the size of the text in an object of an export. The object is in memory until it is
	// stored.
	Object = 4 << 20
)
