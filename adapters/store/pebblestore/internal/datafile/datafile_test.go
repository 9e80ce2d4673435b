package datafile_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/datafile"
)

// newFile returns the content of a data file that Pebble has written, with deletions of keys and of key ranges.
func newFile(t *testing.T, random *rand.Rand, compression *sstable.CompressionProfile) []byte {
	t.Helper()
	fs := vfs.NewMem()
	o := &pebble.Options{FS: fs, FormatMajorVersion: pebble.FormatTableFormatV6, MemTableSize: 16 << 20, DisableAutomaticCompactions: true}
	o.Levels[0].Compression = func() *sstable.CompressionProfile { return compression }
	o.Levels[0].BlockSize = 4 << 10
	db, err := pebble.Open("d", o)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for i := range 2000 {
		value := make([]byte, random.IntN(300))
		for i := range value[:len(value)/2] {
			value[i] = byte(random.Uint32())
		}
		if i == 1000 {
			value = bytes.Repeat([]byte("large "), 40<<10)
		}
		k := fmt.Appendf(nil, "key%05d", i)
		if i%50 == 0 {
			err = db.Delete(k, pebble.NoSync)
		} else {
			err = db.Set(k, value, pebble.NoSync)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.DeleteRange([]byte("a"), []byte("b"), pebble.NoSync); err != nil {
		t.Fatal(err)
	}
	if err := db.Flush(); err != nil {
		t.Fatal(err)
	}
	names, err := fs.List("d")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".sst") {
			f, err := fs.Open("d/" + name)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			b, err := io.ReadAll(f)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
	}
	t.Fatal("no data file")
	return nil
}

// read returns the readable entries, the deleted key ranges and the damage of a data file.
func read(t *testing.T, content []byte) (list []datafile.Entry, spans []datafile.Span, damage []datafile.Damage) {
	t.Helper()
	fs := vfs.NewMem()
	f, err := fs.Create("f", vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(bytes.Clone(content)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := datafile.Read(fs, "f")
	if err != nil {
		t.Fatal(err)
	}
	c := r.Cursor()
	for e, ok := c.Next(); ok; e, ok = c.Next() {
		list = append(list, e)
	}
	return list, r.Spans, append(r.Damage, c.Damage...)
}

var profiles = map[string]*sstable.CompressionProfile{
	"plain": sstable.NoCompression, "snappy": sstable.SnappyCompression,
}

// TestRead checks that the reader returns the written entries, also if a damaged end of the file hides the
// index.
func TestRead(t *testing.T) {
	t.Parallel()
	for name, profile := range profiles {
		whole := newFile(t, rand.New(rand.NewPCG(1, 1)), profile)
		list, spans, damage := read(t, whole)
		if len(list) != 2000 || len(spans) != 1 || len(damage) != 0 {
			t.Fatalf("%s: %d entries, deleted ranges %v, damage %v", name, len(list), spans, damage)
		}
		for i, e := range list {
			want := pebble.InternalKeyKindSet
			if i%50 == 0 {
				want = pebble.InternalKeyKindDelete
			}
			if string(e.Key) != fmt.Sprintf("key%05d", i) || e.Kind != want || e.Sequence == 0 {
				t.Fatalf("%s: entry %d is %q, %v at %d", name, i, e.Key, e.Kind, e.Sequence)
			}
		}
		for what, b := range map[string][]byte{
			"no end": whole[:len(whole)-1], "a longer file": append(bytes.Clone(whole), make([]byte, 100)...),
		} {
			again, spans, damage := read(t, b)
			if len(damage) == 0 || fmt.Sprint(again) != fmt.Sprint(list) || len(spans) != 1 {
				t.Errorf("%s, %s: %d entries, deleted ranges %v, damage %v", name, what, len(again), spans, damage)
			}
		}
	}
}

// TestReadDamaged damages a file at random offsets, and in half of the cases also the end of the file. It
// checks that each damage loses at most two data blocks, and that no wrong entry is read.
func TestReadDamaged(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	for name, profile := range profiles {
		whole := newFile(t, random, profile)
		written, _, _ := read(t, whole)
		values := map[string][]byte{}
		for _, e := range written {
			values[string(e.Key)] = e.Value
		}
		for n := range 60 {
			b := bytes.Clone(whole)
			at := random.IntN(len(b) - 8)
			for i := range 8 {
				b[at+i] ^= byte(1 + random.IntN(255))
			}
			if n%2 == 0 {
				b = b[:len(b)-1]
			}
			list, _, damage := read(t, b)
			if len(damage) == 0 {
				t.Errorf("%s, damage at %d of %d: none found", name, at, len(b))
			}
			if lost := len(written) - len(list); lost > 100 {
				t.Errorf("%s, damage at %d of %d: %d of %d entries are lost", name, at, len(b), lost, len(written))
			}
			for _, e := range list {
				if want, ok := values[string(e.Key)]; !ok || !bytes.Equal(want, e.Value) {
					t.Fatalf("%s, damage at %d: %q is another entry", name, at, e.Key)
				}
			}
		}
	}
}
