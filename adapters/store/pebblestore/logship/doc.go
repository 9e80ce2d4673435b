// Package logship reads the commits of an open store from its logs, to ship them to a backup location.
//
// A [Keeper] keeps the logs until they are shipped, up to a maximum size. It also stores the [commitlog.Timeline],
// which says to which history the commits belong. A [Reader] returns the commits in the order of their numbers.
package logship
