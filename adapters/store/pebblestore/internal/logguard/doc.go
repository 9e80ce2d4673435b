// Package logguard detects at a start whether confirmed commits are lost. Pebble does not detect this.
//
// Each commit writes a [Mark] to the log. The Mark says which commits were synced before this commit. When no commits follow, a
// [Marker] writes one more Mark. A [Guard] is the file system that Pebble uses. It maintains a list of the logs that must exist,
// and inspects the logs and the MANIFEST when Pebble opens them for a replay. A [Policy] says what happens to a log that has lost
// commits. An incomplete end of a log after a crash is not a loss, because no commit there was confirmed.
package logguard
