// Package account has the accounts of a server, their file, and the commands that change them and sign with
// their keys.
package account
