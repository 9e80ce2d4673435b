// Package follow keeps the store of a secondary up to date, from the log that its primary ships to a backup location.
//
// A [Follower] builds its store from a backup of the primary, and then applies the log. If it cannot apply the log, it
// builds another store while the current one serves reads.
//
// [Follower.Promote] makes the store a primary. [Replay] applies the log to a restored store, up to a given moment.
package follow
