package main

import _ "unsafe" // for go:linkname

// arc4random seeds the runtime's maps in place of the C library's, which is a
// cipher of its own and prints why it failed: 10 kB of the module.
//
//go:linkname arc4random arc4random
func arc4random() uint32 { return uint32(hostRandom()) }
