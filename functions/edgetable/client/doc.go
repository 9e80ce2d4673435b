// Package client implements the commands that work on table services, local or remote: queries, exports and
// imports, copies, advice, load tests, profiles and the explorer.
package client
