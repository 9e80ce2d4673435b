//go:build !testlocal

package main

// killPoints is how often each kind of work is killed.
const killPoints, killRows = 1, 1000
