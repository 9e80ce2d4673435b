// Package httpserver is the transport for net/http: it hands a request to a
// protocol.Handler as it came in and sends what comes back. It also watches over
// the connections: time limits, and an end that lets running requests finish.
package httpserver
