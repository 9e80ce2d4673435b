// Package size has sizes that tests make smaller, so that small tables show what large ones do.
package size

var (
	// WakeEvery is a number of entities: after so many of a range, idle workers check
	// again whether it is worth dividing.
	WakeEvery int64 = 1000
	// WorthDividing is the least number of remaining entities for which a range is divided.
	WorthDividing = 4000
	// Object is how much text goes into an object of an export, which is in memory until it is stored.
	Object = 4 << 20
)
