// Package feed reads the feeds of tables, removes old changes and waits for new changes.
//
// # Windows
//
// Each transaction that commits to a table with a feed adds a line with its transaction number to the SQL table change.
// A transaction gets its number when it begins to write, and becomes visible when it commits. The order of the numbers
// differs from the order of the commits, so one number cannot describe a position in a feed. A position is a [Point],
// which says for each transaction number whether the lines of the transaction were read.
//
// A reader reads one window at a time. A window contains the lines that a snapshot shows and that the position does not
// include. It is ordered by Timestamp, which keeps the changes of an entity in order. A transaction that writes an
// entity waits until an earlier writer of the entity has committed. A snapshot that shows the later change therefore
// also shows the earlier change, which has the lower Timestamp.
//
// A window ends at the reader's current snapshot, or at the mark of a line. The mark is the snapshot that the line's
// transaction took when it began to write. Marks limit a window to about a thousand lines, even if the reader is far
// behind. If a page ends inside a window, the position of the page includes the end of the window.
//
// # Transaction numbers
//
// The highest number in a position belongs to a transaction that wrote a line that was read, or that declared the feed.
// This transaction was committed, so PostgreSQL gives its number to no other transaction, even after a crash. After a
// crash, PostgreSQL can reuse the number of a transaction that wrote nothing or was rolled back.
package feed
