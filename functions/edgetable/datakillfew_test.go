//go:build !testmany

package main

// killPoints is how often each kind of work is killed; killText is the length of
// the longest text of an entity.
const killPoints, killRows, killText = 1, 1000, 600
