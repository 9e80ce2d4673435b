package workerskv

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"strconv"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// A document is a cell, whose stamp is its revision:
//
//	stamp (8) · version (1) · incarnation (12) · buckets (2) · uvarint length · location · value
const (
	documentVersion = 1
	maxDocument     = 64 << 10
	maxDocumentKey  = maxName - 1
	incarnationSize = 12
)

func encodeDocument(d *table.Document, stamp edm.Ticks) []byte {
	b := make([]byte, 0, stampSize+incarnationSize+len(d.Layout.Location)+len(d.Value)+8)
	b = binary.BigEndian.AppendUint64(b, uint64(stamp))
	b = append(b, documentVersion)
	b = append(b, d.Layout.Incarnation[:]...)
	b = binary.BigEndian.AppendUint16(b, d.Layout.Buckets)
	b = binary.AppendUvarint(b, uint64(len(d.Layout.Location)))
	b = append(b, d.Layout.Location...)
	return append(b, d.Value...)
}

// decodeDocument gives the document memory of its own.
func decodeDocument(key string, body []byte) (d table.Document, err error) {
	if len(body) < stampSize+1+incarnationSize+2 || body[stampSize] != documentVersion {
		return d, errCell
	}
	d.Key = strings.Clone(key)
	d.Revision = revision(stampOf(body))
	b := body[stampSize+1:]
	copy(d.Layout.Incarnation[:], b)
	d.Layout.Buckets = binary.BigEndian.Uint16(b[incarnationSize:])
	location, value, ok := field(b[incarnationSize+2:])
	if !ok {
		return table.Document{}, errCell
	}
	d.Layout.Location = string(location)
	d.Value = bytes.Clone(value)
	return d, nil
}

func revision(stamp edm.Ticks) table.Revision {
	return table.Revision(strconv.FormatUint(uint64(stamp), 36))
}

func badKey(key string) bool { return key == "" || len(key) > maxDocumentKey }

func readDocument(ctx context.Context, c *cells, key string) (table.Document, error) {
	if badKey(key) {
		return table.Document{}, table.ErrNoDocument
	}
	body, err := c.get(ctx, spaceDocuments+key)
	if err != nil {
		return table.Document{}, err
	}
	if body == nil {
		return table.Document{}, table.ErrNoDocument
	}
	return decodeDocument(key, body)
}

func listDocuments(ctx context.Context, c *cells, prefix, from string, limit int) ([]table.Document, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var docs []table.Document
	b := budget{calls: math.MaxInt}
	w := newWalk(c, &b, spaceDocuments+prefix, spaceDocuments+max(prefix, from), "", limit)
	for len(docs) < limit {
		f, err := w.peek(ctx)
		if f == nil || err != nil {
			return docs, err
		}
		body, err := w.whole(ctx, f)
		if err != nil {
			return nil, err
		}
		w.take(f)
		if body == nil {
			continue
		}
		d, err := decodeDocument(strings.TrimPrefix(f.name, spaceDocuments), body)
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, nil
}

// ReadDocument implements [table.Store], but for what it says of documents: they
// are as eventual as entities.
func (s *Store) ReadDocument(ctx context.Context, key string) (table.Document, error) {
	if err := ctx.Err(); err != nil {
		return table.Document{}, err
	}
	return readDocument(ctx, &s.cells, key)
}

// ListDocuments implements [table.Store]; see ReadDocument.
func (s *Store) ListDocuments(ctx context.Context, prefix, from string, limit int) ([]table.Document, error) {
	return listDocuments(ctx, &s.cells, prefix, from, limit)
}

// WriteDocument implements [table.Store]. The revision is compared with what
// this isolate sees; without a single writer others may write in the same minute,
// and the last one counts.
func (s *Store) WriteDocument(ctx context.Context, d table.Document) (table.Revision, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if badKey(d.Key) {
		return "", table.ErrKeyTooLong
	}
	if len(d.Value) > maxDocument {
		return "", table.RequestBodyTooLarge.Err()
	}
	t, err := s.document(ctx, d.Key, func(old *table.Document) ([]byte, edm.Ticks, error) {
		switch {
		case old.Revision != d.Revision:
			return nil, 0, table.ErrRevision
		case old.Revision != "" && old.Layout != d.Layout:
			return nil, 0, table.ErrUnsupported // a name cannot be moved
		}
		t := s.clock.after(stampOfRevision(old.Revision))
		return encodeDocument(&d, t), t, nil
	})
	if err != nil {
		return "", err
	}
	return revision(t), nil
}

// document writes a document when it is its turn; it has no Revision where there
// is none.
func (s *Store) document(ctx context.Context, key string, write func(old *table.Document) ([]byte, edm.Ticks, error)) (edm.Ticks, error) {
	j := &job{cell: func(body []byte) ([]byte, edm.Ticks, error) {
		var old table.Document
		if body != nil {
			var err error
			if old, err = decodeDocument(key, body); err != nil {
				return nil, 0, err
			}
		}
		return write(&old)
	}}
	return s.records.write(key, func() (edm.Ticks, error) {
		return s.turns.do(ctx, s.single(spaceDocuments+key), j)
	})
}

func stampOfRevision(r table.Revision) edm.Ticks {
	n, _ := strconv.ParseUint(string(r), 36, 63)
	return edm.Ticks(n)
}

// Drop implements [table.Store]. It leaves a note for [Store.Purge], since
// whoever has not seen yet that the table is gone may write into it for a minute,
// and to delete what may be millions of names takes more than an invocation has.
func (s *Store) Drop(ctx context.Context, key string, want table.Revision) error {
	d, err := s.ReadDocument(ctx, key)
	switch {
	case errors.Is(err, table.ErrNoDocument):
		return table.ErrRevision
	case err != nil:
		return err
	case d.Revision != want:
		return table.ErrRevision
	}
	if d.Layout != (table.Layout{}) {
		if err := s.note(ctx, &d); err != nil {
			return err
		}
	}
	_, err = s.document(ctx, key, func(old *table.Document) ([]byte, edm.Ticks, error) {
		if old.Revision == "" || old.Revision != want {
			return nil, 0, table.ErrRevision
		}
		return nil, s.clock.after(stampOfRevision(old.Revision)), nil
	})
	return err
}
