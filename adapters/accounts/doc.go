// Package accounts reads the accounts of a server and their keys: [Parse] from a
// text, and a [Cache] from a place where the text changes, such as a store of
// secrets, so that a key is replaced without a restart.
package accounts
