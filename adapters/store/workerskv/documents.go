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
//	stamp (8) · version (1) · incarnation (12) · zero (3) · value
const (
	documentVersion = 1
	maxDocument     = 64 << 10
	maxDocumentKey  = maxName - 1
	incarnationSize = 12
)

func encodeDocument(d *table.Record, stamp edm.Ticks) []byte {
	b := make([]byte, 0, stampSize+incarnationSize+len(d.Value)+8)
	b = binary.BigEndian.AppendUint64(b, uint64(stamp))
	b = append(b, documentVersion)
	b = append(b, d.Incarnation[:]...)
	b = append(b, 0, 0, 0)
	return append(b, d.Value...)
}

// decodeDocument gives the document memory of its own.
func decodeDocument(key string, body []byte) (d table.Record, err error) {
	k, ok := table.ParseRecordKey(strings.Clone(key))
	if !ok || len(body) < stampSize+1+incarnationSize+3 || body[stampSize] != documentVersion {
		return d, errCell
	}
	d.Key = k
	d.Revision = revision(stampOf(body))
	b := body[stampSize+1:]
	copy(d.Incarnation[:], b)
	d.Value = bytes.Clone(b[incarnationSize+3:])
	return d, nil
}

func revision(stamp edm.Ticks) table.Revision {
	return table.Revision(strconv.FormatUint(uint64(stamp), 36))
}

func badKey(key string) bool { return key == "" || len(key) > maxDocumentKey }

func readDocument(ctx context.Context, c *cells, key string) (table.Record, error) {
	if badKey(key) {
		return table.Record{}, table.ErrNoRecord
	}
	body, err := c.get(ctx, spaceDocuments+key)
	if err != nil {
		return table.Record{}, err
	}
	if body == nil {
		return table.Record{}, table.ErrNoRecord
	}
	return decodeDocument(key, body)
}

func listDocuments(ctx context.Context, c *cells, account, from string, limit int) ([]table.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var docs []table.Record
	b := budget{calls: math.MaxInt}
	prefix := spaceDocuments + table.TablesOf(account)
	w := newWalk(c, &b, prefix, prefix+from, "", limit)
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

// ReadRecord implements [table.Store], but for what it says of documents: they
// are as eventual as entities.
func (s *Store) ReadRecord(ctx context.Context, key table.RecordKey) (table.Record, error) {
	if err := ctx.Err(); err != nil {
		return table.Record{}, err
	}
	return readDocument(ctx, &s.cells, key.String())
}

// ListRecords implements [table.Store]; see ReadRecord.
func (s *Store) ListRecords(ctx context.Context, account, from string, limit int) ([]table.Record, error) {
	return listDocuments(ctx, &s.cells, account, from, limit)
}

// WriteRecord implements [table.Store]. The revision is compared with what
// this isolate sees; without a single writer others may write in the same minute,
// and the last one counts.
func (s *Store) WriteRecord(ctx context.Context, d table.Record) (table.Revision, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	key := d.Key.String()
	if badKey(key) {
		return "", table.ErrKeyTooLong
	}
	if len(d.Value) > maxDocument {
		return "", table.RequestBodyTooLarge.Err()
	}
	t, err := s.document(ctx, key, func(old *table.Record) ([]byte, edm.Ticks, error) {
		if old.Revision != d.Revision {
			return nil, 0, table.ErrRevision
		}
		if old.Revision != "" {
			d.Incarnation = old.Incarnation
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
func (s *Store) document(ctx context.Context, key string, write func(old *table.Record) ([]byte, edm.Ticks, error)) (edm.Ticks, error) {
	j := &job{cell: func(body []byte) ([]byte, edm.Ticks, error) {
		var old table.Record
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
func (s *Store) Drop(ctx context.Context, key table.RecordKey, want table.Revision) error {
	d, err := s.ReadRecord(ctx, key)
	switch {
	case errors.Is(err, table.ErrNoRecord):
		return table.ErrRevision
	case err != nil:
		return err
	case d.Revision != want:
		return table.ErrRevision
	}
	if err := s.note(ctx, &d); err != nil {
		return err
	}
	_, err = s.document(ctx, key.String(), func(old *table.Record) ([]byte, edm.Ticks, error) {
		if old.Revision == "" || old.Revision != want {
			return nil, 0, table.ErrRevision
		}
		return nil, s.clock.after(stampOfRevision(old.Revision)), nil
	})
	return err
}
