// Package feed reads, removes and awaits the lines of the feeds of tables.
//
// # Windows
//
// Each transaction that commits to a table with a feed leaves a line in the table change, with
// its number. Numbers are given out when a transaction begins to write, and they become
// visible in another order, when it commits. So a position is not one number: it is a
// [Point], which says of each number whether its lines were read.
//
// A reader reads windows. A window has the lines that its position has not and that a snapshot
// shows, in the order of their Timestamps. The snapshot is what keeps the changes of an entity
// in order: who writes an entity that another transaction has written waits until that has
// committed, so a snapshot that shows the later change shows the earlier one too, and the
// earlier one has the lower Timestamp. Between two numbers, or two Timestamps, there is no such
// promise.
//
// The snapshot of a window is the one of now, or the mark of a line: the snapshot of the
// transaction that wrote it, when it began to write. So a reader that is far behind has windows of about a thousand
// lines. A page that ends inside a window has a position that says where that ends.
//
// # Numbers
//
// The highest number of a position is that of a line that was read, or of a declaration. Both
// were committed, so no other transaction gets it, also not after a crash. The numbers of
// transactions that wrote nothing, or were undone, can come again.
package feed
