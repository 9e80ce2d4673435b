package durableobject

import (
	"cmp"
	"errors"

	"edgetable/core/edm"
)

// Options configure a [Store]. Caller, Now and Rand are required.
type Options struct {
	// Caller sends the messages. It may also implement [Pauser].
	Caller Caller
	// Now is the clock for deadlines and for the age of writes. It does not affect Timestamps.
	Now func() edm.Ticks
	// Rand returns random bits, which identify writes.
	Rand func() uint64

	// Buckets is the number of bucket objects of a new table, from 1 to [MaxBuckets]; 0 means 1.
	Buckets uint16
	// Location is the location of new tables: see [SplitLocation].
	Location string
	// Catalog is the location of the catalogs. It must be the same everywhere and must never change, because each
	// location has its own catalogs.
	Catalog string

	// Maps is the method [Maps.Ask] of the cache that this Store shares with other Stores. If Maps is nil, the Store
	// has its own cache.
	Maps func(question []byte) (answer []byte)

	// Attempts is the maximum number of times that a message is sent while its answers are lost; 0 means 3.
	Attempts int
}

// MaxBuckets is the maximum number of bucket objects of a table, because one message may make at most this many calls.
const MaxBuckets = 1000

const defaultAttempts = 3

var errOptions = errors.New("durableobject: Caller, Now and Rand are required, Buckets are at most 1000, and a location is a jurisdiction, a hint, or both as in eu/weur")

func (o Options) withDefaults() (Options, error) {
	if o.Caller == nil || o.Now == nil || o.Rand == nil || o.Buckets > MaxBuckets ||
		!validLocation(o.Location) || !validLocation(o.Catalog) {
		return o, errOptions
	}
	o.Buckets = cmp.Or(o.Buckets, 1)
	if o.Maps == nil {
		o.Maps = NewMaps(o).Ask
	}
	if o.Attempts <= 0 {
		o.Attempts = defaultAttempts
	}
	return o, nil
}
