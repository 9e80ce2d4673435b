// Package protocol converts the bytes of one request into an operation of
// package table, and its result into the bytes of a response.
//
//	bytes → Request → address → sharedkey → negotiate → payload, multipart, odata → table.Service → Store
//	bytes ← Response ←────────────────────────────────────────────── payload, multipart ←┘
//
// A transport makes a [Request] from the unchanged HTTP request (above all,
// from its target, which is signed), calls [Handler.Serve] and sends the
// [Response]. The transport makes no decisions. The same handler runs behind a
// socket, in a Lambda and in a Worker. The handler uses no network and no files,
// and it has no clock of its own.
package protocol
