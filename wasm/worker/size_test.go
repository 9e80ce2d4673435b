package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/testdata/needs"
)

// TestSize checks the size of the module, because an isolate compiles the module when it starts. The platform permits
// 64 MiB before compression.
func TestSize(t *testing.T) {
	needs.These(t, needs.Edge)
	t.Parallel()
	for _, tt := range []struct {
		variant        []string
		module, zipped int
	}{
		{nil, 1_200_000, 600_000},
		{[]string{"kv"}, 1_400_000, 600_000}, // asyncify, which this variant needs, makes every function larger
	} {
		build := exec.Command("./build", tt.variant...)
		build.Stderr = os.Stderr
		folder, err := build.Output()
		if err != nil {
			t.Fatal(err)
		}
		module, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), "edgetable.wasm"))
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
		t.Logf("%v: %d bytes, %d zipped", tt.variant, len(module), zipped.Len())
		if len(module) > tt.module || zipped.Len() > tt.zipped {
			t.Errorf("the module %v has %d bytes, %d zipped; %d and %d are allowed", tt.variant, len(module), zipped.Len(), tt.module, tt.zipped)
		}
	}
}
