// Package accounts parses the accounts of a server and their keys from text.
package accounts
