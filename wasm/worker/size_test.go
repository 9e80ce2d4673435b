package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"edgetable/testdata/edge/workerd"
)

// What the module may weigh: an isolate compiles it when it starts.
const (
	maxModule = 1_200_000
	maxZipped = 400_000
)

func TestSize(t *testing.T) {
	t.Parallel()
	folder, err := workerd.Module()
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile(filepath.Join(folder, "edgetable.wasm"))
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
	t.Logf("%d bytes, %d zipped", len(module), zipped.Len())
	if len(module) > maxModule || zipped.Len() > maxZipped {
		t.Errorf("the module has %d bytes, %d zipped; %d and %d are allowed", len(module), zipped.Len(), maxModule, maxZipped)
	}
}
