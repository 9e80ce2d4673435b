package main

import _ "unsafe" // the directive go:linkname requires this import

// arc4random seeds the runtime's maps. It replaces the C library's function, whose cipher and error messages would
// add 10 kB to the module.
//
//go:linkname arc4random arc4random
func arc4random() uint32 { return uint32(hostRandom()) }
