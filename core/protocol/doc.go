// Package protocol converts the bytes of one request into an operation of package table, and the result into the bytes
// of a response.
//
//	bytes → Request → address → sharedkey → negotiate → payload, multipart, odata → table.Service → Store
//	bytes ← Response ←────────────────────────────────────────────── payload, multipart ←┘
//
// A transport builds a [Request] from the HTTP request, calls [Handler.Serve] and sends the [Response]. The Request
// must contain the HTTP request unchanged, in particular its target, which is signed. The same handler runs behind a
// socket, in a Lambda and in a Worker. It uses no network, no files and no system clock.
package protocol
