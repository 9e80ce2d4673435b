// Package admin implements the socket over which commands reach the server that uses a data directory, and the state
// that the server reports there.
package admin
