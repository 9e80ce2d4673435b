// Package httpserver is the transport for HTTP/1.1. It limits the number, the duration and the memory of connections,
// and lets running requests finish at a shutdown.
//
// It uses fasthttp, because for a small request net/http alone costs several times as much as the rest of edgetable
// without fsync.
package httpserver
