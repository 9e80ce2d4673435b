// Package client has the commands on table services, wherever they run: queries, exports and imports, copies,
// advice, load tests, profiles and the explorer.
package client
