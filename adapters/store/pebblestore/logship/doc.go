// Package logship reads the commits of an open store from its logs, to ship them to another
// place, and keeps the logs until they are shipped.
//
// A [Keeper] moves the logs that Pebble no longer needs to a folder, up to a limit, and remembers the
// [Timeline]: which history the commits belong to, and from which number on the logs are complete. A
// [Reader] returns the commits in the order of their numbers, and tells the keeper which are
// shipped.
package logship
