// Package feed reads, removes and waits for the lines of table feeds.
//
// # Windows
//
// Each transaction that commits to a table with a feed adds a line with its transaction number to the SQL table
// change. A transaction gets its number when it begins to write, and becomes visible when it commits; the two orders
// differ. So one number cannot describe a position. A position is a [Point], which says for each number whether its
// lines were read.
//
// A reader reads windows. A window contains the lines that a snapshot shows and that the position does not include,
// ordered by Timestamp. This keeps the changes of an entity in order. A transaction that writes an entity waits until
// an earlier writer of the entity has committed. So a snapshot that shows the later change also shows the earlier
// one, and the earlier one has the lower Timestamp. Numbers alone, or Timestamps alone, give no such guarantee.
//
// The snapshot of a window is the current one, or the mark of a line: the snapshot that the line's transaction had
// when it began to write. So a reader that has much to catch up on reads windows of about a thousand lines. If a page
// ends inside a window, its position says where the window ends.
//
// # Numbers
//
// The highest number of a position is that of a line that was read, or of a declaration. Both were committed, so no
// other transaction gets this number, even after a crash. Numbers of transactions that wrote nothing, or were rolled
// back, can be used again.
package feed
