//go:build testmany

package main

// killPoints is how often each kind of work is killed; killText is the length of
// the longest text of an entity. An export notes what it has after 8 MiB.
const killPoints, killRows, killText = 12, 8000, 4000
