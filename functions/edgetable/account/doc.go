// Package account implements the accounts of a server, their file, and the commands that change accounts and sign
// with their keys.
package account
