// Package client implements the commands that work on table services, local or remote.
package client
