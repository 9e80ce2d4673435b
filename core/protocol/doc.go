// Package protocol is the wire: it turns the bytes of one request into an
// operation of package table, and what that says into the bytes of a response.
//
//	bytes → Request → sharedkey → route → payload, multipart, odata → table.Service → Store
//	bytes ← Response ←──────────────────────────────── payload, multipart ←┘
//
// A transport makes a [Request] of whatever it was given, untouched (above all
// the request target, which is signed), calls [Handler.Serve] and sends the
// [Response]. It decides nothing. The same handler runs behind a socket, in a
// Lambda and in a Worker; it has no network, no files and no clock of its own.
package protocol
