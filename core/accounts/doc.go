// Package accounts parses a text that lists the accounts of a server and their
// keys.
package accounts
