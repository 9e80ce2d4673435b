package transfer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strings"

	"golang.org/x/sync/errgroup"

	"edgetable/core/objects"
	"edgetable/core/payload"
)

// Bucket is a place for objects for an export, without a disk: an object for each
// 4 MiB of lines, and the manifest. Work may go on on another machine.
type Bucket struct {
	objects.Place
	Location string // as the user named it
}

func (b Bucket) at(name string) string {
	where, _, _ := strings.Cut(b.Location, "?")
	return strings.TrimSuffix(where, "/") + "/" + name
}

// Get implements Place. Its errors name the object.
func (b Bucket) Get(ctx context.Context, name string) ([]byte, error) {
	text, err := b.Place.Get(ctx, name)
	if err != nil {
		err = fmt.Errorf("%s: %w", b.at(name), err)
	}
	return text, err
}

// Begun implements Place.
func (b Bucket) Begun(ctx context.Context) ([]string, error) {
	var begun Export
	_, err := getJSON(ctx, b, unfinishedName, &begun)
	return begun.Tables, err
}

func (b Bucket) begin(ctx context.Context, o *Export, w *tableWork) (err error) {
	w.journal, w.again, err = openObjectJournal(ctx, b, *o.options(), w.replay)
	return err
}

// finish makes the objects of other formats of the pieces, several at the same time.
func (b Bucket) finish(ctx context.Context, o *Export, t *ManifestTable, parts []*part) (err error) {
	for _, p := range parts {
		t.Parts = append(t.Parts, p.objects...)
		t.Rows += p.state.Rows
	}
	sheet := o.sheet()
	if sheet == nil {
		if len(t.Parts) == 0 {
			t.Parts = make([]Part, 1)
			t.Parts[0], err = b.putPart(ctx, o.object(t.Name, &part{}, 0), 0, nil)
		}
		return err
	}
	lists := []entityList{func(func(payload.Received) error) error { return nil }}
	pieces := []Part{{File: "piece-0000-000000.jsonl"}}
	if len(t.Parts) > 0 {
		pieces, lists = t.Parts, nil
		for _, p := range pieces {
			lists = append(lists, b.entities(ctx, &p))
		}
	}
	if err := noteAll(sheet, lists); err != nil {
		return err
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
			t.Parts[i], err = b.putPart(ctx, t.Name+name+o.ending(), p.Rows, content.Bytes())
			return err
		})
	}
	err = g.Wait()
	t.Notes = sheet.notes()
	return err
}

// entities reads an object of lines.
func (b Bucket) entities(ctx context.Context, p *Part) entityList {
	return func(do func(payload.Received) error) error {
		content, err := b.getPart(ctx, p)
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

func (b Bucket) tidy(ctx context.Context, m *Manifest) error {
	needed := map[string]bool{}
	names := m.Missing
	for _, t := range m.Tables {
		names = append(names, t.Name)
		for _, p := range t.Parts {
			needed[p.File] = true
		}
	}
	err := b.removeAll(ctx, unfinishedPrefix)
	for _, name := range names {
		for object, failed := range b.List(ctx, name+"/part-") {
			if failed == nil && !needed[object.Name] {
				failed = b.Delete(ctx, object.Name)
			}
			err = errors.Join(err, failed)
		}
	}
	return err
}

// Remove implements Place.
func (b Bucket) Remove(ctx context.Context, tables []string) error {
	for _, name := range []string{ManifestName, unfinishedName} { // first: without them there is no export
		if err := b.Delete(ctx, name); err != nil {
			return err
		}
	}
	for _, table := range tables {
		if err := b.removeAll(ctx, table+"/part-"); err != nil {
			return err
		}
	}
	return b.removeAll(ctx, unfinishedPrefix)
}

func (b Bucket) removeAll(ctx context.Context, prefix string) error {
	for object, err := range b.List(ctx, prefix) {
		if err != nil {
			return err
		}
		if err := b.Delete(ctx, object.Name); err != nil {
			return err
		}
	}
	return nil
}

// putPart stores an object and describes it.
func (b Bucket) putPart(ctx context.Context, name string, rows int64, content []byte) (Part, error) {
	sum := sha256.Sum256(content)
	return Part{File: name, Rows: rows, Bytes: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}, b.Put(ctx, name, content)
}

// getPart reads an object and compares it with its description.
func (b Bucket) getPart(ctx context.Context, p *Part) ([]byte, error) {
	text, err := b.Get(ctx, p.File)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	if int64(len(text)) != p.Bytes || !strings.EqualFold(hex.EncodeToString(sum[:]), p.SHA256) {
		return nil, fmt.Errorf("%s is not what the manifest says: it is damaged or changed", p.File)
	}
	return text, nil
}
