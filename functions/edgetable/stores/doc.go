// Package stores defines the kinds of store for a server, with their flags and metrics, and the commands that maintain
// a store without a server.
package stores
