// Package httpserver is the transport for HTTP/1.1: it hands a request to a
// protocol.Handler as it came in and sends what comes back. It also watches over
// the connections: limits of time and size, and an end that lets running
// requests finish.
//
// It stands on fasthttp, since net/http costs several times as much as all of
// edgetable's own work for a small request, fsync excepted.
package httpserver
