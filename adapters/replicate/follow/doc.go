// Package follow keeps the store of a secondary up to date, from the log that its primary ships to a backup location.
//
// A [Follower] builds its store from a backup, and then applies the log. If the log cannot be applied, it builds
// another store while the current one serves reads.
//
// [Follower.Promote] makes the store a primary. [Replay] is used for a restore to a given moment.
package follow
