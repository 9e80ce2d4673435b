package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Progress is what a Purge has done so far.
type Progress struct {
	Tables int // tables, or copies of tables, removed to the last item
	Items  int // items removed
}

var droppedHash = []byte{kindDropped}

// notePurge notes that the entities of an incarnation are to be removed. The note
// is due when no operation that began before can still be under way. With a table
// that was dropped its name goes, if that is its record still.
func (s *Store) notePurge(r *record, l life) types.TransactWriteItem {
	it := keyOf(droppedHash, l.incarnation[:])
	it[attrDue] = num(s.now() + litterAge)
	it[attrDocument] = str(r.Key.String())
	if r.deleting {
		it[attrRevision] = str(string(r.Revision))
	}
	it[attrBuckets] = num(l.buckets)
	return types.TransactWriteItem{Put: &types.Put{TableName: s.table, Item: it}}
}

// Purge removes what nobody can see any more: the entities of tables that were
// dropped, or moved to other buckets, more than an hour ago, and what writes of
// chunks left behind that did not come to their end. It calls report, which may be
// nil, whenever it removed some; an error of it ends the purge. However a purge
// ends, the next goes on where it was. Several at the same time do no harm.
func (s *Store) Purge(ctx context.Context, report func(Progress) error) error {
	p := purge{Store: s, report: report}
	if err := p.writes(ctx); err != nil {
		return err
	}
	return p.tables(ctx)
}

type purge struct {
	*Store
	report func(Progress) error
	done   Progress
}

func (p *purge) told() error {
	if p.report == nil {
		return nil
	}
	return p.report(p.done)
}

// each calls do with all items of a hash key.
func (p *purge) each(ctx context.Context, hash []byte, only *projection, do func(context.Context, []item) error) error {
	for first := []byte{0}; ; {
		found, err := p.query(ctx, query{hash: hash, first: first, rows: maxWriteBatch, only: only})
		if err == nil {
			err = do(ctx, found.items)
		}
		if err != nil || found.next == nil {
			return err
		}
		first = append(found.next, 0)
	}
}

func (p *purge) due(it item) bool {
	due, err := strconv.ParseInt(number(it[attrDue]), 10, 64)
	return err == nil && edm.Ticks(due) <= p.now()
}

// tables removes what is noted.
func (p *purge) tables(ctx context.Context) error {
	return p.each(ctx, droppedHash, nil, func(ctx context.Context, notes []item) error {
		for _, note := range notes {
			if !p.due(note) {
				continue
			}
			if err := p.table(ctx, note); err != nil {
				return err
			}
		}
		return nil
	})
}

// table removes one incarnation: first its name, should whoever dropped it not
// have come to that, then its items, and last the note.
func (p *purge) table(ctx context.Context, note item) error {
	id := binaryOf(note[attrSort])
	count, err := strconv.ParseUint(number(note[attrBuckets]), 10, 16)
	l := life{buckets: uint16(count)}
	if err != nil || copy(l.incarnation[:], id) != len(l.incarnation) {
		return errItem
	}
	if err := p.unname(ctx, note, l); err != nil {
		return err
	}
	for bucket := range l.buckets {
		for _, kind := range []byte{kindEntity, kindChunk} {
			if err := p.each(ctx, l.hash(kind, bucket), onlyKeys, p.remove); err != nil {
				return err
			}
		}
	}
	if err := p.batchWrite(ctx, []types.WriteRequest{deleteRequest(droppedHash, id)}); err != nil {
		return err
	}
	p.done.Tables++
	return p.told()
}

// unname removes the name of a dropped table. What a table was moved from, or was
// not moved to in the end, has none.
func (p *purge) unname(ctx context.Context, note item, l life) error {
	key, ok := table.ParseRecordKey(text(note[attrDocument]))
	if !ok {
		return errItem
	}
	if _, ok := note[attrRevision]; ok {
		err := p.removeRecord(ctx, key, table.Revision(text(note[attrRevision])))
		if errors.Is(err, table.ErrRevision) {
			return nil
		}
		return err
	}
	r, err := p.record(ctx, key)
	if err == nil && (r.life.incarnation == l.incarnation || r.move.target.incarnation == l.incarnation) {
		return fmt.Errorf("%s is to be purged and in use: %w", key, errItem)
	}
	if errors.Is(err, table.ErrNoRecord) {
		return nil
	}
	return err
}

// remove deletes items.
func (p *purge) remove(ctx context.Context, items []item) error {
	requests := make([]types.WriteRequest, len(items))
	for i, it := range items {
		requests[i] = deleteRequest(binaryOf(it[attrHash]), binaryOf(it[attrSort]))
	}
	if err := p.batchWrite(ctx, requests); err != nil || len(items) == 0 {
		return err
	}
	p.done.Items += len(items)
	return p.told()
}

// writes clears up after writes of chunks. What the entity names is in use; of
// the rest nobody will ever know.
func (p *purge) writes(ctx context.Context) error {
	return p.each(ctx, pendingHash, nil, func(ctx context.Context, notes []item) error {
		for _, note := range notes {
			if !p.due(note) {
				return nil // they are in order of their time
			}
			if err := p.write(ctx, note); err != nil {
				return err
			}
		}
		return nil
	})
}

func (p *purge) write(ctx context.Context, note item) error {
	var l life
	bucket, err := strconv.ParseUint(number(note[attrBuckets]), 10, 16)
	if err != nil || copy(l.incarnation[:], binaryOf(note[attrIncarnation])) != len(l.incarnation) {
		return errItem
	}
	var used chunks
	it, err := p.getItem(ctx, keyOf(l.hash(kindEntity, uint16(bucket)), binaryOf(note[attrEntity])), table.Strong)
	if err != nil {
		return err
	}
	if it != nil {
		e, err := readEntity(it)
		if err != nil {
			return err
		}
		used = e.chunks
	}
	var requests []types.WriteRequest
	for _, attr := range []string{attrNew, attrOld} {
		a, ok := note[attr]
		if !ok {
			continue
		}
		c, err := readChunks(a)
		if err != nil {
			return err
		}
		if c != used {
			requests = append(requests, chunkDeletes(l.hash(kindChunk, uint16(bucket)), c)...)
		}
	}
	if err := p.batchWrite(ctx, requests); err != nil {
		return err
	}
	if err := p.batchWrite(ctx, []types.WriteRequest{deleteRequest(pendingHash, binaryOf(note[attrSort]))}); err != nil {
		return err
	}
	p.done.Items += len(requests) + 1
	return p.told()
}
