// Package offline works on the data directory of a Pebble store that no server has open.
//
// [Check] tries the steps of a server's start without changing the directory, and then reads the files block by block.
// It can copy the readable data even from a directory that Pebble cannot open.
//
// Package pebblestore does not import this package: a server never reads a directory in this way.
package offline
