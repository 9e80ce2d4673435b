// Package admin is the socket by which commands reach the server that uses a data directory, and what the server
// tells there.
package admin
