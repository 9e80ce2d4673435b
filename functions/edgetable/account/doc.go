// Package account implements the accounts of a server and their file, and the commands that maintain accounts and sign
// with their keys.
package account
