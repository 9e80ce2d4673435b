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

	"edgetable/functions/edgetable/remote"
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
func read(t *testing.T, dir string, m *transfer.Manifest, compress string) (all []byte) {
	t.Helper()
	for _, part := range m.Tables[0].Parts {
		raw, err := os.ReadFile(filepath.Join(dir, part.File))
		must.OK(t, err)
		if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != part.SHA256 || int64(len(raw)) != part.Bytes {
			t.Errorf("%s is not what the manifest says", part.File)
		}
		var text io.Reader = bytes.NewReader(raw)
		switch compress {
		case "gzip":
			if text, err = gzip.NewReader(text); err != nil {
				t.Fatal(err)
			}
		case "zstd":
			if text, err = zstd.NewReader(text); err != nil {
				t.Fatal(err)
			}
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

// An export that is interrupted again and again ends with the same bytes as one
// that is not.
func TestExportInterrupted(t *testing.T) {
	t.Parallel()
	for _, compress := range []string{"none", "gzip", "zstd"} {
		t.Run(compress, func(t *testing.T) {
			t.Parallel()
			c, s := newStopper(t, pages)
			fill(t, c, "People", numbered(exportRows), property) // 4 KB each
			whole, broken := t.TempDir(), t.TempDir()
			m, err := newExport(c, "jsonl", compress).To(t.Context(), c, transfer.Directory(whole))
			must.OK(t, err)
			if m.Tables[0].Rows != exportRows {
				t.Errorf("%+v", m.Tables[0])
			}
			var stream bytes.Buffer
			must.OK(t, newExport(c, "jsonl", "none").ToWriter(t.Context(), c, &stream))
			if !bytes.Equal(read(t, whole, m, compress), stream.Bytes()) {
				t.Error("the files together are not the stream")
			}
			var again *transfer.Manifest
			runs := 0
			for ; again == nil; runs++ {
				e := newExport(c, "jsonl", compress)
				ctx, cancel := s.after(t, 2+runs) // the first run asks for 3 pages at least
				again, err = e.To(ctx, c, transfer.Directory(broken))
				cancel()
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				// What a crash may leave behind the journal.
				parts, _ := filepath.Glob(filepath.Join(broken, "People", "piece-*"))
				if err != nil && len(parts) > 0 {
					f, err := os.OpenFile(parts[0], os.O_APPEND|os.O_WRONLY, 0)
					must.OK(t, err)
					f.WriteString("torn")
					f.Close()
				}
			}
			if runs < 2 {
				t.Errorf("%d runs", runs)
			}
			if !bytes.Equal(read(t, broken, again, compress), stream.Bytes()) {
				t.Errorf("after %d runs the files together are not the stream", runs)
			}
			left, _ := filepath.Glob(filepath.Join(broken, "*"))
			if len(left) != 2 {
				t.Errorf("left are %q", left)
			}
			if _, err := newExport(c, "jsonl", compress).To(t.Context(), c, transfer.Directory(whole)); !errors.Is(err, transfer.ErrFinished) {
				t.Errorf("a second time: %v", err)
			}
		})
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
