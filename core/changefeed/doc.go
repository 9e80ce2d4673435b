// Package changefeed answers requests for the changes of a table, which it reads from the table's feed in a store
// ([table.Feeding]). It parses and limits the parameters of the request, encodes feed positions as text and changes as
// events, and limits the number of waiting requests.
//
// A client sends the position from the previous answer. It may request that the server delay the answer until there is
// an event. A client that sends Accept: text/event-stream gets a single answer that stays open and contains the same
// events and positions as they occur.
//
// Every answer contains a newer position, even if there is no change that the client may see. A client that gets status
// 410 may have missed changes and must read the whole table again.
package changefeed
