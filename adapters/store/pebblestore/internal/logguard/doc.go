// Package logguard detects at a start whether confirmed commits are lost. Pebble does not detect this.
//
//   - Each commit writes a [Mark] to the log, which says which commits were synced before. When no commits follow, a
//     [Marker] writes one more Mark.
//   - A [Guard] is the file system that Pebble uses. It lists the logs that must exist, and inspects the logs and the
//     MANIFEST before Pebble replays them.
//   - A [Policy] says what happens to a log that has lost commits.
//
// An incomplete end of a log after a crash is not a loss, because no commit there was confirmed.
package logguard
