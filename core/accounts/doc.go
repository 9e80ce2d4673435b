// Package accounts reads the accounts of a server and their keys from a text.
package accounts
