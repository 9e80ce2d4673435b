// Package stores has a row for each kind of store that a server can use, its metrics, and the commands that look
// after a store without a server.
package stores
