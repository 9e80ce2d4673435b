// Package accounts parses the list of a server's accounts and their keys.
package accounts
