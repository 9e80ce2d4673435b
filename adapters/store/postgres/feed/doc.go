// Package feed reads and removes the lines of table feeds, and waits for new lines.
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
// A window ends at the reader's current snapshot, or at the mark of a line: the snapshot that the line's transaction
// took when it began to write. Marks limit a window to about a thousand lines, even if the reader has many lines to
// read. If a page ends inside a window, its position includes the end of the window.
//
// # Numbers
//
// The highest number in a position is that of a line that was read, or that of the feed's declaration. Both were
// committed, so PostgreSQL gives this number to no other transaction, even after a crash. Numbers of transactions
// that wrote nothing, or were rolled back, can be given again after a crash.
package feed
