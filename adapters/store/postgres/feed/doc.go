// Package feed reads the feeds of tables, removes old changes and waits for new changes.
//
// # Windows
//
// Each transaction that commits to a table with a feed adds a line to the SQL table change. The line contains the
// number of the transaction. A transaction gets its number when it begins to write, and becomes visible when it
// commits. Transactions commit in another order than that of their numbers, so one number cannot describe a position in
// a feed. A position is a [Point], which says for each transaction whether its lines were read.
//
// A reader reads one window at a time. A window contains the lines that a snapshot shows and that were not read before.
// Its lines are ordered by Timestamp, and so are the changes of an entity. No later window has an earlier change of the
// entity: a transaction that writes an entity waits until the previous writer has committed, so a snapshot that shows a
// change also shows all earlier changes of the entity.
//
// A window ends at the reader's current snapshot, or at the mark of a line. The mark is the snapshot that the line's
// transaction took when it began to write. Marks limit a window to about a thousand lines, even if the reader is far
// behind. If a page ends inside a window, the position of the page includes the end of the window.
//
// # Transaction numbers
//
// After a crash, PostgreSQL can reuse the number of a transaction that wrote nothing or was rolled back. The highest
// number in a position therefore always belongs to a committed transaction: it wrote a line that was read, or it
// declared the feed.
package feed
