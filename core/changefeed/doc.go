// Package changefeed answers requests for the changes of a table. It reads them from the feed of a store
// ([table.Feeding]). It parses and bounds the parameters, encodes positions as text and changes as events, and limits
// how many requests wait.
//
// A client sends the position from the previous answer. It may ask the server to hold the answer until there is an
// event. A client that sends Accept: text/event-stream gets one answer that stays open while the client reads, with
// the same events and positions.
//
// Every answer has a newer position, even if nothing that the client may see has changed. A client that gets 410 has
// missed changes, or may have, and must list the table again.
package changefeed
