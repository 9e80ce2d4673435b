package manifest_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/logfile"
	"edgetable/adapters/store/pebblestore/internal/manifest"
)

// TestRead checks that Read returns the same files in use as Pebble, after flushes,
// compactions and range deletions.
func TestRead(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	o := &pebble.Options{FS: fs, FormatMajorVersion: pebble.FormatTableFormatV6, MemTableSize: 64 << 10, L0CompactionThreshold: 2, LBaseMaxBytes: 64 << 10}
	o.TargetFileSizes[0] = 16 << 10
	db, err := pebble.Open("d", o)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	value := make([]byte, 200)
	for i := range 5000 {
		for i := range value {
			value[i] = byte(random.Uint32())
		}
		if err := db.Set(fmt.Appendf(nil, "%04d", random.IntN(5000)), value, pebble.NoSync); err != nil {
			t.Fatal(err)
		}
		if i%1000 == 999 {
			if err := db.DeleteRange(fmt.Appendf(nil, "%04d", i), fmt.Appendf(nil, "%04d", i+300), pebble.NoSync); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := db.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := db.Compact(t.Context(), []byte("0"), []byte("9"), true); err != nil {
		t.Fatal(err)
	}
	levels, err := db.SSTables()
	if err != nil {
		t.Fatal(err)
	}
	want := map[uint64]bool{}
	for _, level := range levels {
		for _, f := range level {
			want[uint64(f.FileNum)] = true
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := fs.List("d")
	if err != nil {
		t.Fatal(err)
	}
	newest := ""
	for _, name := range names {
		if strings.HasPrefix(name, "MANIFEST-") {
			newest = max(newest, name)
		}
	}
	f, err := fs.Open("d/" + newest)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	var records [][]byte
	for _, r := range logfile.Scan(b, 0).Records {
		records = append(records, r.Payload)
	}
	state, err := manifest.Read(records)
	if err != nil {
		t.Fatal(err)
	}
	live := 0
	for n, used := range state.Live {
		if used != want[n] {
			t.Errorf("file %d: in use %v, Pebble says %v", n, used, want[n])
		}
		if used {
			live++
		}
	}
	if live != len(want) || live < 5 || len(state.Live) == live || state.FirstLog == 0 {
		t.Errorf("%d of %d files, of %d ever, first log %d", live, len(want), len(state.Live), state.FirstLog)
	}
	if _, err := manifest.Read(append(records, []byte{99})); err == nil {
		t.Error("a record with an unknown tag is understood")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte{1, 3, 'a', 'b', 'c', 2, 7, 6, 0, 9, 103, 0, 5, 9, 1, 'a', 1, 'b', 1, 2, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := manifest.Read([][]byte{b}); err == nil && len(s.Live) > len(b) {
			t.Errorf("%d files in %d bytes", len(s.Live), len(b))
		}
	})
}
