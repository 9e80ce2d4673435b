package durableobject

import (
	"errors"

	"edgetable/core/edm"
)

// Options of a [Store]. Caller, Now and Rand are required.
type Options struct {
	// Caller reaches the objects; it may be a [Pauser] too.
	Caller Caller
	// Now is the clock by which contexts end and writes grow old. It issues no
	// Timestamps.
	Now func() edm.Ticks
	// Rand returns random bits. Writes are told apart by them.
	Rand func() uint64

	// Buckets is how many objects a new table is spread over: 1 to [MaxBuckets],
	// 0 is 1.
	Buckets uint16
	// Location is where a new table is made: see [SplitLocation].
	Location string
	// Catalog is the location of the catalogs. It must be the same in all Workers
	// and objects, and never change: elsewhere there are other catalogs.
	Catalog string

	// Attempts is how often a message is sent whose answer was lost, 0 is 3.
	Attempts int
}

// MaxBuckets is how many objects a table can be spread over: the platform lets
// one message make so many calls.
const MaxBuckets = 1000

const defaultAttempts = 3

var errOptions = errors.New("durableobject: Caller, Now and Rand are required, Buckets are at most 1000, and a location is a jurisdiction, a hint, or both as in eu/weur")

func (o Options) withDefaults() (Options, error) {
	if o.Caller == nil || o.Now == nil || o.Rand == nil || o.Buckets > MaxBuckets ||
		!validLocation(o.Location) || !validLocation(o.Catalog) {
		return o, errOptions
	}
	if o.Buckets == 0 {
		o.Buckets = 1
	}
	if o.Attempts <= 0 {
		o.Attempts = defaultAttempts
	}
	return o, nil
}
