package transfer_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"edgetable/adapters/backup/repository"
	"edgetable/functions/edgetable/transfer"
	"edgetable/testdata/must"
)

// An export to objects that is interrupted again and again has the bytes of a stream, in several parts that were divided while they
// were read. Nothing else is left, also of objects that the journal did not get.
func TestExportObjectsInterrupted(t *testing.T) {
	t.Parallel()
	c, s := newStopper(t, pages)
	fill(t, c, "People", numbered(exportRows), property) // 4 KB each
	var stream bytes.Buffer
	must.OK(t, newExport(c, "jsonl", "none").ToWriter(t.Context(), c, &stream))
	place := transfer.Bucket{Objects: repository.Directory(t.TempDir())}
	var m *transfer.Manifest
	runs := 0
	for ; m == nil; runs++ {
		e := newExport(c, "jsonl", "none")
		ctx, cancel := s.after(t, 2+runs) // the first run asks for 3 pages at least
		var err error
		m, err = e.To(ctx, c, place)
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if err != nil {
			must.OK(t, place.Put(t.Context(), "People/part-0000-999999.jsonl", []byte("torn")))
		}
	}
	var all, names []string
	for object, err := range place.List(t.Context(), "") {
		must.OK(t, err)
		all = append(all, object.Name)
	}
	var text []byte
	for _, part := range m.Tables[0].Parts {
		one, err := place.Get(t.Context(), part.File)
		if err != nil || int64(bytes.Count(one, []byte("\n"))) != part.Rows {
			t.Fatalf("%+v: %v", part, err)
		}
		text, names = append(text, one...), append(names, part.File)
	}
	if !bytes.Equal(text, stream.Bytes()) {
		t.Errorf("after %d runs the objects have %d bytes of %d", runs, len(text), stream.Len())
	}
	slices.Sort(all)
	if names = append(names, transfer.ManifestName); !slices.Equal(all, sorted(names)) || runs < 2 {
		t.Errorf("after %d runs %q are there, %q are needed", runs, all, names)
	}
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}
