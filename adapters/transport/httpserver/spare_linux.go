package httpserver

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// giveBack returns memory that nobody needs at present to the system. The whole pages of b have other contents
// afterwards, and get memory again when somebody writes to them.
func giveBack(b []byte) {
	page := uintptr(os.Getpagesize())
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	skip := int((page - begin%page) % page)
	if n := (len(b) - skip) &^ int(page-1); n > 0 {
		_ = unix.Madvise(b[skip:skip+n], unix.MADV_DONTNEED) // if it fails, the memory stays
	}
}
