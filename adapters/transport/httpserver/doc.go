// Package httpserver is the transport for HTTP/1.1: it passes each request to a protocol.Handler as received and
// sends the response. It also manages connections: limits on time and size, and a shutdown that lets running requests
// finish.
//
// It is based on fasthttp, because for a small request net/http costs several times as much as all of edgetable's own
// work except fsync.
package httpserver
