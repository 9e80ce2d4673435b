// Package httpserver is the transport for HTTP/1.1. It passes each request to a protocol.Handler and sends the
// response. It limits the number, the duration and the memory of connections. At a shutdown, it lets running requests
// finish.
//
// It uses fasthttp. For a small request, net/http alone would cost several times as much as the rest of edgetable
// without fsync.
package httpserver
