package httpserver

import (
	"bytes"
	"os"
	"testing"
)

// TestGiveBackPages: whole pages are emptied, and what is beside them in their first and last page stays.
func TestGiveBackPages(t *testing.T) {
	t.Parallel()
	page := os.Getpagesize()
	b := bytes.Repeat([]byte{1}, 8*page)
	giveBack(b[page/2 : 7*page+page/2])
	if n := bytes.Count(b, []byte{0}); n < 5*page || n > 6*page {
		t.Errorf("%d bytes were emptied, of %d", n, 7*page)
	}
	if bytes.IndexByte(b, 0) < page/2 || bytes.LastIndexByte(b, 0) >= 7*page+page/2 {
		t.Error("other bytes were emptied")
	}
	giveBack(nil)
	b = []byte{1}
	if giveBack(b); b[0] != 1 {
		t.Error("a byte was emptied")
	}
}
