// Package follow keeps the store of a secondary up to date with its primary, from the log that the primary ships to a backup
// location.
//
// A [Follower] builds its store from a backup of the primary, and then applies the log. If it can no longer apply the log, it
// builds a new store while the current one serves reads, and swaps the two. [Follower.Promote] makes the store a primary.
// [Replay] applies a part of the log once, for a restore to a moment.
package follow
