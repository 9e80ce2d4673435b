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
	"edgetable/core/edm"
	"edgetable/core/objects"
	"edgetable/functions/edgetable/transfer"
	"edgetable/functions/edgetable/transfer/export"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/scan"
	"edgetable/testdata/must"
)

// newExport returns an export of the table People.
func newExport(c *remote.Client, format, compress string) *export.Export {
	return &export.Export{Command: export.Command{Tables: []string{"People"}, Source: c.Endpoint().String(), Format: format, Compress: compress},
		Connections: 4, Progress: new(scan.Progress), Begin: func(bool) {}}
}

func in(dir string) export.Place {
	return export.Place{Place: directory.Place{Dir: dir}, Location: dir}
}

// read returns the decompressed content of all files of an export, one after the other. It compares
// the size and the checksum of each file with the manifest.
func read(t *testing.T, place export.Place, m *export.Manifest, compress string) (all []byte) {
	t.Helper()
	for _, part := range m.Tables[0].Files {
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

// TestExportInterrupted exports a table once without interruption, and once with many
// interruptions. It checks that the files of both exports, in the order of their names, have the
// same bytes as a streamed export. The interrupted export must also remove all temporary objects.
func TestExportInterrupted(t *testing.T) {
	t.Parallel()
	for _, compress := range []string{"none", "gzip", "zstd"} {
		t.Run(compress, func(t *testing.T) {
			t.Parallel()
			c, s := newStopper(t, pages)
			fill(t, c, "People", numbered(exportRows), property) // each entity has about 4 KB
			var stream bytes.Buffer
			must.OK(t, newExport(c, "jsonl", "none").ToWriter(t.Context(), c, &stream))
			whole := in(t.TempDir())
			m, err := newExport(c, "jsonl", compress).To(t.Context(), c, whole)
			must.OK(t, err)
			if m.Tables[0].Rows != int64(exportRows) || !bytes.Equal(read(t, whole, m, compress), stream.Bytes()) {
				t.Errorf("the parts together are not the stream: %+v", m.Tables[0])
			}
			dir, runs := t.TempDir(), 0
			broken := in(dir)
			for m = nil; m == nil; runs++ {
				ctx, cancel := s.cancelAfter(t, 2+runs) // each query reads one page; the table has more than two pages
				m, err = newExport(c, "jsonl", compress).To(ctx, c, broken)
				cancel()
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				if err != nil { // simulate incomplete objects that a crash may leave behind
					must.OK(t, broken.Put(t.Context(), "People/part-0001-0-999999.jsonl", []byte("torn")))
					must.OK(t, broken.Put(t.Context(), "unfinished/line-0000000009.json.x.part", []byte("torn")))
				}
			}
			if !bytes.Equal(read(t, broken, m, compress), stream.Bytes()) || runs < 2 {
				t.Errorf("after %d runs the parts together are not the stream", runs)
			}
			if needed, left := files(m), list(t, broken); !slices.Equal(left, needed) {
				t.Errorf("after %d runs %q are there, %q are needed", runs, left, needed)
			}
			if !slices.IsSortedFunc(m.Tables[0].Files, func(a, b progressfile.Stored) int { return strings.Compare(a.File, b.File) }) {
				t.Errorf("the names are not in the order of the keys: %+v", m.Tables[0].Files)
			}
		})
	}
}

// TestExportInterruptedColumns checks that a CSV file has all columns. Some columns occur only in
// entities that an interrupted run has read.
func TestExportInterruptedColumns(t *testing.T) {
	t.Parallel()
	c, s := newStopper(t, pages)
	fill(t, c, "People", numbered(exportRows), func(i int) edm.Properties {
		if i == 0 {
			return edm.AppendProperty(property(i), "First", edm.Boolean(true))
		}
		return property(i)
	})
	place, runs := in(t.TempDir()), 0
	var m *export.Manifest
	for ; m == nil; runs++ {
		ctx, cancel := s.cancelAfter(t, 3+runs)
		var err error
		m, err = newExport(c, "csv-plain", "none").To(ctx, c, place)
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	for _, part := range m.Tables[0].Files {
		text, err := place.Get(t.Context(), part.File)
		must.OK(t, err)
		if head, _, _ := strings.Cut(string(text), "\n"); runs < 2 || !strings.Contains(head, ",First") {
			t.Errorf("after %d runs the columns of %s are %s", runs, part.File, head)
		}
	}
}

// TestExportObjectsWithoutLine cancels the first run of an export at its nth change of the
// destination, for n = 1, 8, 15 and so on. Some stored objects then have no progress line. The next
// run must export the same bytes as a streamed export, and must remove all temporary objects.
func TestExportObjectsWithoutLine(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	fill(t, c, "People", numbered(exportRows), property)
	var stream bytes.Buffer
	must.OK(t, newExport(c, "jsonl", "none").ToWriter(t.Context(), c, &stream))
	steps := 1
	for failed := true; failed; steps += 7 {
		place := in(t.TempDir())
		broken := place
		broken.Place = &stepping{place.Place, steps, true}
		e := newExport(c, "jsonl", "none")
		e.Connections = 1
		_, err := e.To(t.Context(), c, broken)
		if failed = err != nil; failed && !errors.Is(err, errStep) {
			t.Fatal(err)
		}
		m, err := newExport(c, "jsonl", "none").To(t.Context(), c, place)
		must.OK(t, err)
		if !bytes.Equal(read(t, place, m, "none"), stream.Bytes()) || !slices.Equal(list(t, place), files(m)) {
			t.Errorf("after step %d the parts are not the stream, or more is there: %q", steps, list(t, place))
		}
	}
	if steps < 30 {
		t.Errorf("%d steps", steps)
	}
}

// files returns the names of all objects of a finished export, sorted.
func files(m *export.Manifest) []string {
	names := []string{export.ManifestName}
	for _, table := range m.Tables {
		for _, part := range table.Files {
			names = append(names, part.File)
		}
	}
	return slices.Sorted(slices.Values(names))
}

// list returns the names of all objects of a destination, sorted.
func list(t *testing.T, place export.Place) (names []string) {
	t.Helper()
	for object, err := range place.List(t.Context(), "") {
		must.OK(t, err)
		names = append(names, object.Name)
	}
	slices.Sort(names)
	return names
}

// TestExportPieceLost removes or truncates a stored object while the export is interrupted. It
// checks that the resumed export fails and writes no manifest.
func TestExportPieceLost(t *testing.T) {
	t.Parallel()
	c, s := newStopper(t, pages)
	fill(t, c, "People", numbered(exportRows), property)
	for _, format := range []string{"jsonl", "csv"} {
		for name, damage := range map[string]func(piece string) error{"removed": os.Remove, "cut": func(piece string) error { return os.Truncate(piece, 10) }} {
			dir := t.TempDir()
			stored := filepath.Join(dir, "People", "part-*")
			if format == "csv" {
				stored = filepath.Join(dir, "unfinished", "People", "piece-*")
			}
			var pieces []string
			for len(pieces) == 0 { // the first interruption may come before the first piece is stored
				ctx, cancel := s.cancelAfter(t, 2)
				_, err := newExport(c, format, "none").To(ctx, c, in(dir))
				cancel()
				if !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				pieces, err = filepath.Glob(stored)
				must.OK(t, err)
			}
			must.OK(t, damage(pieces[0]))
			if _, err := newExport(c, format, "none").To(t.Context(), c, in(dir)); err == nil || !strings.Contains(err.Error(), filepath.Base(pieces[0])) {
				t.Errorf("%s %s: %v", format, name, err)
			}
			if _, err := os.Stat(filepath.Join(dir, export.ManifestName)); !os.IsNotExist(err) {
				t.Errorf("%s %s: there is a manifest", format, name)
			}
		}
	}
}

// TestExportRefused checks that the export refuses a destination with other files, with an
// unfinished export of another command, or with a finished export of another command. The error
// must say so. With Restart, the export still refuses other files.
func TestExportRefused(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	fill(t, c, "People", numbered(10), property)
	dir := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600))
	for _, restart := range []bool{false, true} {
		e := newExport(c, "jsonl", "none")
		e.Restart = restart
		if _, err := e.To(t.Context(), c, in(dir)); err == nil || !strings.Contains(err.Error(), "is not empty and has no export: it has mine") {
			t.Error(err)
		}
	}
	dir = t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	e := newExport(c, "jsonl", "none")
	e.Begin = func(bool) { cancel() }
	if _, err := e.To(ctx, c, in(dir)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	changes := map[string]func(*export.Command){
		"format": func(c *export.Command) { c.Format = "csv" }, "tables": func(c *export.Command) { c.Tables = []string{"People", "Other"} },
		"all": func(c *export.Command) { c.Tables = nil }, "filter": func(c *export.Command) { c.Filter = "PartitionKey ge 'p'" },
		"select": func(c *export.Command) { c.Select = []string{"Text"} }, "service": func(c *export.Command) { c.Source += "x" },
		"compress": func(c *export.Command) { c.Compress = "zstd" }, "excel": func(c *export.Command) { c.Excel = true },
	}
	for _, says := range []string{"has an unfinished export of a different command", "has the export of a different command"} {
		for name, change := range changes {
			e := newExport(c, "jsonl", "none")
			change(&e.Command)
			if _, err := e.To(t.Context(), c, in(dir)); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), `{"tables":["People"],`) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := newExport(c, "jsonl", "none").To(t.Context(), c, in(dir)); err != nil {
			t.Fatal(err)
		}
	}
}

// stepping is a destination for exports that fails after some changes. At first, the field
// left is the number of the first change that returns an error. All later changes return errors too.
// If the field behind is true, the first change with an error takes effect nevertheless.
type stepping struct {
	objects.Place
	left   int
	behind bool
}

var errStep = errors.New("the place is gone")

func (s *stepping) do(change func() error) error {
	s.left--
	if s.left < 0 || s.left == 0 && !s.behind {
		return errStep
	}
	err := change()
	if s.left == 0 {
		return errStep
	}
	return err
}

func (s *stepping) Put(ctx context.Context, name string, b []byte) error {
	return s.do(func() error { return s.Place.Put(ctx, name, b) })
}

func (s *stepping) Delete(ctx context.Context, name string) error {
	return s.do(func() error { return s.Place.Delete(ctx, name) })
}

// TestExportAgain replaces a finished export. It uses the same command, or another command with
// Restart, and stops the new export at each write. It checks that the old export stays complete
// until the new export is complete. The next run must complete the new export, and remove all other
// files of exports.
func TestExportAgain(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"jsonl", "csv"} {
		for _, restart := range []bool{false, true} {
			c := newClient(t)
			fill(t, c, "People", numbered(10), property)
			old := t.TempDir()
			must.OK(t, os.WriteFile(filepath.Join(old, "readme"), nil, 0o600))
			must.OK(t, os.Remove(filepath.Join(old, "readme")))
			before, err := newExport(c, format, "none").To(t.Context(), c, in(old))
			must.OK(t, err)
			must.OK(t, os.WriteFile(filepath.Join(old, "of others"), nil, 0o600))
			fill(t, c, "People", []keys{{"x", "new"}}, property)
			run := func(place export.Place) (*export.Manifest, error) {
				e := newExport(c, format, "none")
				e.Connections = 1
				if restart {
					e.Restart, e.Filter = true, "PartitionKey ge ''"
				}
				return e.To(t.Context(), c, place)
			}
			steps := 0
			for done := false; !done; steps++ {
				for _, behind := range []bool{false, true} {
					dir := t.TempDir()
					must.OK(t, os.CopyFS(dir, os.DirFS(old)))
					place := in(dir)
					place.Place = &stepping{place.Place, steps + 1, behind}
					_, err := run(place)
					if done = err == nil; err != nil && !errors.Is(err, errStep) {
						t.Fatal(err)
					}
					sources, err := transfer.Sources(dir, "")
					must.OK(t, err)
					rows := int64(0)
					for _, s := range sources {
						must.OK(t, s.Verify())
						rows += s.Rows()
					}
					if rows != before.Tables[0].Rows && rows != 11 || done && rows != 11 {
						t.Errorf("%s, step %d: %d rows can be read", format, steps, rows)
					}
					m, err := run(in(dir))
					must.OK(t, err)
					if want := append([]string{"of others"}, files(m)...); m.Tables[0].Rows != 11 || !slices.Equal(list(t, in(dir)), slices.Sorted(slices.Values(want))) {
						t.Errorf("%s, step %d: there are %q, needed %q", format, steps, list(t, in(dir)), want)
					}
				}
			}
			if steps < 8 {
				t.Errorf("%d steps", steps)
			}
		}
	}
}

// TestExportChecksFirst checks that the export reports a wrong filter, a missing table and a wrong
// key before it changes the destination.
func TestExportChecksFirst(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	fill(t, c, "People", numbered(10), property)
	dir := t.TempDir()
	_, err := newExport(c, "jsonl", "none").To(t.Context(), c, in(dir))
	must.OK(t, err)
	before := list(t, in(dir))
	other, err := remote.ParseConnection("AccountName=acme;AccountKey=d3JvbmcgYnV0IGxvbmcgZW5vdWdoIGZvciBhIGtleQ==;TableEndpoint=" + c.Endpoint().String())
	must.OK(t, err)
	for name, change := range map[string]func(*export.Export) *remote.Client{
		"filter": func(e *export.Export) *remote.Client { e.Filter = "N eq"; return c },
		"table":  func(e *export.Export) *remote.Client { e.Tables = []string{"Nobody", "Never"}; return c },
		"key":    func(*export.Export) *remote.Client { return remote.New(other, 1) },
	} {
		e := newExport(c, "jsonl", "none")
		e.Restart = true
		who := change(e)
		e.Begin = func(bool) { t.Errorf("%s: it begins", name) }
		place := in(dir)
		place.Place = &stepping{place.Place, 1, false}
		if _, err := e.To(t.Context(), who, place); err == nil || errors.Is(err, errStep) {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.Equal(list(t, in(dir)), before) {
			t.Errorf("%s: %q", name, list(t, in(dir)))
		}
	}
}

// TestExportTwice starts two processes that export to the same bucket. It checks that the process
// that began first stops.
func TestExportTwice(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	fill(t, c, "People", numbered(10), property)
	place := in(t.TempDir())
	first := newExport(c, "jsonl", "none")
	first.Begin = func(bool) {
		if _, err := newExport(c, "jsonl", "none").To(t.Context(), c, place); err != nil {
			t.Error(err)
		}
	}
	if _, err := first.To(t.Context(), c, place); err == nil || !strings.Contains(err.Error(), "another process exports to") {
		t.Error(err)
	}
}
