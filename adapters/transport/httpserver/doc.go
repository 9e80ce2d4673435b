// Package httpserver is the transport for HTTP/1.1. It passes each request to a protocol.Handler and sends the
// response. It also limits the number, the duration and the memory of connections, and lets running requests finish at
// a shutdown.
//
// It is based on fasthttp, because for a small request net/http costs several times as much as all of edgetable except
// fsync.
package httpserver
