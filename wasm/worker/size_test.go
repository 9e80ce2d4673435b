package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
)

// What the modules may weigh: an isolate compiles one when it starts. That for
// Workers KV alone has goroutines: half of its functions can be left in the middle
// and entered again, which takes a fifth of it, and syscall/js, but no objects.
func TestSize(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		variant        string
		module, zipped int
	}{
		{"", 1_200_000, 400_000},
		{"kv", 1_250_000, 460_000},
	} {
		module, err := os.ReadFile(filepath.Join(build(t, tt.variant), "edgetable.wasm"))
		if err != nil {
			t.Fatal(err)
		}
		var zipped bytes.Buffer
		w, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
		if err == nil {
			_, err = w.Write(module)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%q: %d bytes, %d zipped", tt.variant, len(module), zipped.Len())
		if len(module) > tt.module || zipped.Len() > tt.zipped {
			t.Errorf("the module %q has %d bytes, %d zipped; %d and %d are allowed", tt.variant, len(module), zipped.Len(), tt.module, tt.zipped)
		}
	}
}
