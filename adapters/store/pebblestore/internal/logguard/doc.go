// Package logguard notices at a start that confirmed commits are lost, which Pebble does not.
//
// Each commit carries a [Mark] in the log, which says which commits were synced before it, and a [Marker] writes one
// after the last commit before a pause. A [Guard] is the file system beneath Pebble: it keeps a list of the logs that
// must exist, and inspects the logs and the MANIFEST that Pebble opens to replay them. A [Policy] says what happens
// to a log that has lost commits. The torn end that a crash leaves is no loss: nothing in it was confirmed.
package logguard
