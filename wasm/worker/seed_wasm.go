package main

import _ "unsafe" // needed for go:linkname

// arc4random seeds the runtime's maps. It replaces the C library's function, which contains a cipher and prints why
// it failed: 10 kB of the module.
//
//go:linkname arc4random arc4random
func arc4random() uint32 { return uint32(hostRandom()) }
