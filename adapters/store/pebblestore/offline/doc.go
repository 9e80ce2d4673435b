// Package offline works on the data directory of a Pebble store that no server has open. [Check] reads the files block
// by block, so it finds readable data even if Pebble cannot open the store.
//
// Package pebblestore does not import this package: a server never reads a directory in this way.
package offline
