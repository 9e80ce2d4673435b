// Package logship reads the commits of an open store from its logs, to ship them to a backup
// location, and keeps the logs until they are shipped.
//
// A [Keeper] moves the logs that Pebble no longer needs to a folder, up to a maximum size. It stores
// the [commitlog.Timeline], which says to which history the commits belong, and after which commit number the
// logs are complete. A [Reader] returns the commits in the order of their numbers. When commits are
// shipped, the Keeper removes the logs that are no longer needed.
package logship
