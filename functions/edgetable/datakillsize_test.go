package main

import "os"

// killPoints is how often each kind of work is killed, of killRows entities; killText is the length of the longest text of an
// entity. With EDGETABLE_MANY, as in 'make many', exports are large enough to note what they have, after 8 MiB.
var killPoints, killRows, killText = 1, 1000, 600

func init() {
	if os.Getenv("EDGETABLE_MANY") != "" {
		killPoints, killRows, killText = 12, 8000, 4000
	}
}
