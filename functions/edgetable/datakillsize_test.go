package main

import "os"

// killPoints is the number of kills of each command. killRows is the number of entities, and killText the maximum
// length of their text. With EDGETABLE_MANY, as in 'make many', exports exceed 8 MiB, after which an export records
// its progress.
var killPoints, killRows, killText = 1, 1000, 600

func init() {
	if os.Getenv("EDGETABLE_MANY") != "" {
		killPoints, killRows, killText = 12, 8000, 4000
	}
}
