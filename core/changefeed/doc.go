// Package changefeed answers requests for the changes of a table. It reads them from the table's feed in a store
// ([table.Feeding]). It parses and limits the parameters of the request, encodes feed positions as text and changes
// as events, and limits how many requests wait at the same time.
//
// A client sends the position that the previous answer contained. It may ask the server to delay the answer until
// there is an event. A client that sends Accept: text/event-stream gets one answer that stays open and sends the same
// events and positions as they occur.
//
// Every answer contains a newer position, even if no change that the client may see has occurred. A client that gets
// status 410 has missed changes, or may have missed some, and must read the whole table again.
package changefeed
