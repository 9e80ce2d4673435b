// Package changefeed answers requests for the changes of a table, which it reads from the table's feed
// ([table.Feeding]). It encodes positions as text and changes as events, and limits the number of waiting requests.
//
// A client sends the position from the previous answer, and may ask the server to wait until there is an event. With
// Accept: text/event-stream, the answer stays open and contains events and positions as they occur.
//
// Every answer contains a newer position, even without changes. After status 410, a client may have missed changes and
// must read the whole table again.
package changefeed
