package transfer_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"edgetable/adapters/client/remote"
	"edgetable/adapters/objects/directory"
	"edgetable/functions/edgetable/transfer"
	"edgetable/testdata/must"
)

// newExport is an export of the table People.
func newExport(c *remote.Client, format, compress string) *transfer.Export {
	return &transfer.Export{Tables: []string{"People"}, Source: c.Endpoint().String(), Format: format, Compress: compress, Connections: 4,
		Progress: new(transfer.Progress), Begin: func(bool) {}}
}

// read reads the parts of an export, one after the other, and checks them
// against the manifest.
func read(t *testing.T, place transfer.Place, m *transfer.Manifest, compress string) (all []byte) {
	t.Helper()
	for _, part := range m.Tables[0].Parts {
		raw, err := place.Get(t.Context(), part.File)
		must.OK(t, err)
		if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != part.SHA256 || int64(len(raw)) != part.Bytes {
			t.Errorf("%s is not what the manifest says", part.File)
		}
		var text io.Reader = bytes.NewReader(raw)
		switch compress {
		case "gzip":
			text, err = gzip.NewReader(text)
			must.OK(t, err)
		case "zstd":
			text, err = zstd.NewReader(text)
			must.OK(t, err)
		}
		plain, err := io.ReadAll(text)
		must.OK(t, err)
		if rows := int64(bytes.Count(plain, []byte("\n"))); rows != part.Rows {
			t.Errorf("%s has %d lines, by the manifest %d", part.File, rows, part.Rows)
		}
		all = append(all, plain...)
	}
	return all
}

// places are what an export is tested with, and what a crash may leave there behind the
// journal.
var places = map[string]struct {
	in   func(dir string) transfer.Place
	torn func(t *testing.T, dir string)
}{
	"directory": {
		func(dir string) transfer.Place { return transfer.Directory(dir) },
		func(t *testing.T, dir string) {
			pieces, _ := filepath.Glob(filepath.Join(dir, "People", "piece-*"))
			if len(pieces) == 0 {
				return
			}
			f, err := os.OpenFile(pieces[0], os.O_APPEND|os.O_WRONLY, 0)
			must.OK(t, err)
			f.WriteString("torn")
			f.Close()
		},
	},
	"bucket": {
		func(dir string) transfer.Place { return transfer.Bucket{Place: directory.Place{Dir: dir}} },
		func(t *testing.T, dir string) {
			must.OK(t, directory.Place{Dir: dir}.Put(t.Context(), "People/part-0000-999999.jsonl", []byte("torn")))
		},
	},
}

// An export that is interrupted again and again has the bytes of a stream, as one that is
// not has, and leaves nothing else.
func TestExportInterrupted(t *testing.T) {
	t.Parallel()
	for name, place := range places {
		for _, compress := range []string{"none", "gzip", "zstd"} {
			t.Run(name+" "+compress, func(t *testing.T) {
				t.Parallel()
				c, s := newStopper(t, pages)
				fill(t, c, "People", numbered(exportRows), property) // 4 KB each
				var stream bytes.Buffer
				must.OK(t, newExport(c, "jsonl", "none").ToWriter(t.Context(), c, &stream))
				whole := place.in(t.TempDir())
				m, err := newExport(c, "jsonl", compress).To(t.Context(), c, whole)
				must.OK(t, err)
				if m.Tables[0].Rows != exportRows || !bytes.Equal(read(t, whole, m, compress), stream.Bytes()) {
					t.Errorf("the parts together are not the stream: %+v", m.Tables[0])
				}
				if _, err := newExport(c, "jsonl", compress).To(t.Context(), c, whole); !errors.Is(err, transfer.ErrFinished) {
					t.Errorf("a second time: %v", err)
				}
				dir, runs := t.TempDir(), 0
				broken := place.in(dir)
				for m = nil; m == nil; runs++ {
					ctx, cancel := s.after(t, 2+runs) // the first run asks for 3 pages at least
					m, err = newExport(c, "jsonl", compress).To(ctx, c, broken)
					cancel()
					if err != nil && !errors.Is(err, context.Canceled) {
						t.Fatal(err)
					}
					if err != nil {
						place.torn(t, dir)
					}
				}
				if !bytes.Equal(read(t, broken, m, compress), stream.Bytes()) || runs < 2 {
					t.Errorf("after %d runs the parts together are not the stream", runs)
				}
				needed := []string{transfer.ManifestName}
				for _, part := range m.Tables[0].Parts {
					needed = append(needed, part.File)
				}
				var left []string
				for object, err := range (directory.Place{Dir: dir}).List(t.Context(), "") {
					must.OK(t, err)
					left = append(left, object.Name)
				}
				if slices.Sort(needed); !slices.Equal(slices.Sorted(slices.Values(left)), needed) {
					t.Errorf("after %d runs %q are there, %q are needed", runs, left, needed)
				}
			})
		}
	}
}

// A file that became shorter than the journal says, or was removed, does not get its length from zeros.
func TestExportPieceLost(t *testing.T) {
	t.Parallel()
	c, s := newStopper(t, pages)
	fill(t, c, "People", numbered(exportRows), property)
	for name, damage := range map[string]func(piece string) error{"removed": os.Remove, "cut": func(piece string) error { return os.Truncate(piece, 10) }} {
		dir := t.TempDir()
		ctx, cancel := s.after(t, 2)
		_, err := newExport(c, "jsonl", "none").To(ctx, c, transfer.Directory(dir))
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		must.OK(t, damage(filepath.Join(dir, "People", "piece-0000.jsonl")))
		if _, err := newExport(c, "jsonl", "none").To(t.Context(), c, transfer.Directory(dir)); err == nil || !strings.Contains(err.Error(), "by the journal: it was changed") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A directory with other files, and the journal of another export, are refused.
func TestExportRefused(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	fill(t, c, "People", numbered(10), property)
	dir := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600))
	if _, err := newExport(c, "jsonl", "none").To(t.Context(), c, transfer.Directory(dir)); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Error(err)
	}
	dir = t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	e := newExport(c, "jsonl", "none")
	e.Begin = func(bool) { cancel() }
	if _, err := e.To(ctx, c, transfer.Directory(dir)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if got, err := transfer.Directory(dir).Begun(t.Context()); err != nil || !slices.Equal(got, []string{"People"}) {
		t.Errorf("begun are %q, %v", got, err)
	}
	if _, err := newExport(c, "csv", "none").To(t.Context(), c, transfer.Directory(dir)); err == nil || !strings.Contains(err.Error(), "the journal of other work") {
		t.Error(err)
	}
	must.OK(t, transfer.Directory(dir).Remove(t.Context(), []string{"People"}))
	if _, err := newExport(c, "csv", "none").To(t.Context(), c, transfer.Directory(dir)); err != nil {
		t.Error(err)
	}
}
