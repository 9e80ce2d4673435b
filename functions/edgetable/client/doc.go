// Package client implements the commands that read and write entities of local and remote table services, and their
// flags and connections, which other commands share.
package client
