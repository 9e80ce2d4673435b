// Package stores defines the kinds of store that a server can use, with their metrics, and the commands that maintain
// a store without a server.
package stores
