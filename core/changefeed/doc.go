// Package changefeed answers requests for the changes of a table, whose source is the feed of a store
// ([table.Feeding]): the parameters and their bounds, positions as texts, events, and who may wait.
//
// A client asks with the position that the previous answer had, and may ask that an answer without events waits until
// there are some. A client that sends Accept: text/event-stream gets one answer that does not end while it reads, with
// the same events and positions.
//
// The answer to each request has a newer position, also when nothing of what it shows has changed. Whoever is told 410
// has missed something, or may have, and lists the table again.
package changefeed
