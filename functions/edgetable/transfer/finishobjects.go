package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"golang.org/x/sync/errgroup"

	"edgetable/adapters/backup/repository"
	"edgetable/core/payload"
)

// finishObjects writes the manifest, after which the export is complete. It can be
// repeated after any interruption.
func (o *Export) finishObjects(ctx context.Context, place repository.Objects, w *tableWork, missing []string) (*Manifest, error) {
	m := o.manifest(w, missing)
	for i := range m.Tables {
		t := &m.Tables[i]
		for _, p := range inOrder(w.tables[t.Name].parts) {
			t.Parts = append(t.Parts, p.objects...)
			t.Rows += p.state.Rows
		}
		if err := o.finishObjectsOf(ctx, place, t); err != nil {
			return nil, err
		}
	}
	if err := putJSON(ctx, place, ManifestName, m); err != nil {
		return nil, err
	}
	return m, tidyObjects(ctx, place, m)
}

// finishObjectsOf makes the objects of a table of its pieces. An empty table has one.
func (o *Export) finishObjectsOf(ctx context.Context, place repository.Objects, t *ManifestTable) (err error) {
	sheet := o.sheet()
	if sheet == nil {
		if len(t.Parts) == 0 {
			t.Parts = make([]Part, 1)
			t.Parts[0], err = putPart(ctx, place, o.object(t.Name, &part{}, 0), 0, nil)
		}
		return err
	}
	lists := []entityList{func(func(payload.Received) error) error { return nil }}
	pieces := []Part{{File: "piece-0000-000000.jsonl"}}
	if len(t.Parts) > 0 {
		pieces, lists = t.Parts, nil
		for _, p := range pieces {
			lists = append(lists, p.entities(ctx, place))
		}
	}
	for _, list := range lists { // in their order, which is that of the columns
		if err := list(func(e payload.Received) error {
			sheet.note(&e)
			return nil
		}); err != nil {
			return err
		}
	}
	t.Parts = make([]Part, len(pieces))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(min(o.Connections, 4)) // each has two objects in memory
	for i, p := range pieces {
		g.Go(func() (err error) {
			var content bytes.Buffer
			if err := sheet.make(lists[i], &content); err != nil {
				return err
			}
			name, _, _ := strings.Cut(strings.Replace(path.Base(p.File), "piece-", "/part-", 1), ".")
			t.Parts[i], err = putPart(ctx, place, t.Name+name+o.ending(), p.Rows, content.Bytes())
			return err
		})
	}
	err = g.Wait()
	t.Notes = sheet.notes()
	return err
}

// entities reads an object of lines.
func (p *Part) entities(ctx context.Context, place repository.Objects) entityList {
	return func(do func(payload.Received) error) error {
		content, err := place.Get(ctx, p.File)
		if err == nil {
			err = p.check(content)
		}
		if err != nil {
			return err
		}
		text, _, done, err := decompress(bytes.NewReader(content), p.File)
		if err != nil {
			return err
		}
		defer done()
		return entities(p.File, text, do)
	}
}

// tidyObjects removes what a finished export does not need.
func tidyObjects(ctx context.Context, place repository.Objects, m *Manifest) error {
	needed := map[string]bool{}
	names := m.Missing
	for _, t := range m.Tables {
		names = append(names, t.Name)
		for _, p := range t.Parts {
			needed[p.File] = true
		}
	}
	err := removeObjects(ctx, place, unfinishedPrefix)
	for _, name := range names {
		for object, failed := range place.List(ctx, name+"/part-") {
			if failed == nil && !needed[object.Name] {
				failed = place.Delete(ctx, object.Name)
			}
			err = errors.Join(err, failed)
		}
	}
	return err
}

// BegunObjects returns the tables of the export in a place that is not finished,
// nil if there is none.
func BegunObjects(ctx context.Context, place repository.Objects) ([]string, error) {
	var begun Export
	_, err := getJSON(ctx, place, unfinishedName, &begun)
	return begun.Tables, err
}

// RemoveObjects removes an export of such tables from a place, finished or not,
// and nothing else.
func RemoveObjects(ctx context.Context, place repository.Objects, tables []string) error {
	for _, name := range []string{ManifestName, unfinishedName} { // first: without them there is no export
		if err := place.Delete(ctx, name); err != nil {
			return err
		}
	}
	for _, table := range tables {
		if err := removeObjects(ctx, place, table+"/part-"); err != nil {
			return err
		}
	}
	return removeObjects(ctx, place, unfinishedPrefix)
}

func removeObjects(ctx context.Context, place repository.Objects, prefix string) error {
	for object, err := range place.List(ctx, prefix) {
		if err != nil {
			return err
		}
		if err := place.Delete(ctx, object.Name); err != nil {
			return err
		}
	}
	return nil
}

// getJSON reads an object. It returns false if there is none.
func getJSON(ctx context.Context, place repository.Objects, name string, to any) (found bool, err error) {
	text, err := place.Get(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	if err := json.Unmarshal(text, to); err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	return true, nil
}

func putJSON(ctx context.Context, place repository.Objects, name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return place.Put(ctx, name, append(text, '\n'))
}
