package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/adapters/store/dynamodb/internal/attribute"
	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Progress counts what a Purge has removed so far.
type Progress struct {
	Tables int // tables and copies of tables that were removed completely
	Items  int
}

var onlyKeys = call.NewProjection(attrHash, attrSort)

const purgeStep = 25

// Purge removes items that no operation can read:
// - entities of tables that were dropped or moved more than an hour ago
// - chunks of writes that did not finish
//
// It calls report, which may be nil, after each step. If report returns an error, Purge stops, and a later Purge
// continues. Several processes may call Purge at the same time.
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

func (p *purge) reportProgress() error {
	if p.report == nil {
		return nil
	}
	return p.report(p.done)
}

func (p *purge) each(ctx context.Context, hash []byte, only *call.Projection, do func(context.Context, []item) error) error {
	for first := []byte{0}; ; {
		found, err := p.db.Query(ctx, call.Query{Hash: hash, First: first, Rows: purgeStep, Projection: only})
		if err == nil {
			err = do(ctx, found.Items)
		}
		if err != nil || found.Next == nil {
			return err
		}
		first = append(found.Next, 0)
	}
}

func (p *purge) due(it item) bool {
	due, err := strconv.ParseInt(attribute.Digits(it[attrDue]), 10, 64)
	return err == nil && edm.Ticks(due) <= p.now()
}

// The method tables processes all due notes about tables that Purge must remove.
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

// table processes a note about one incarnation of a table: it frees the name of a dropped table, removes the items of
// the incarnation, and removes the note.
func (p *purge) table(ctx context.Context, note item) error {
	id := attribute.Bytes(note[attrSort])
	count, err := strconv.ParseUint(attribute.Digits(note[attrBuckets]), 10, 16)
	l := rebucket.Spread{Buckets: uint16(count)}
	if err != nil || copy(l.Incarnation[:], id) != len(l.Incarnation) {
		return errItem
	}
	if err := p.unname(ctx, note, l); err != nil {
		return err
	}
	for bucket := range l.Buckets {
		for _, kind := range []byte{kindEntity, kindChunk} {
			if err := p.each(ctx, hashKey(kind, l, bucket), onlyKeys, p.remove); err != nil {
				return err
			}
		}
	}
	if _, err := p.db.BatchWrite(ctx, []types.WriteRequest{call.DeleteRequest(droppedHash, id)}); err != nil {
		return err
	}
	p.done.Tables++
	return p.reportProgress()
}

// unname frees the name of a dropped table. It does nothing for the old incarnation of a moved table, or for an unused
// copy.
func (p *purge) unname(ctx context.Context, note item, l rebucket.Spread) error {
	key, ok := table.ParseRecordKey(attribute.Text(note[attrRecord]))
	if !ok {
		return errItem
	}
	if _, ok := note[attrRevision]; ok {
		err := p.removeRecord(ctx, key, table.Revision(attribute.Text(note[attrRevision])))
		if errors.Is(err, table.ErrRevision) {
			return nil
		}
		return err
	}
	r, err := p.record(ctx, key, table.Strong)
	if err == nil && (r.Spread.Incarnation == l.Incarnation || r.Target.Incarnation == l.Incarnation) {
		return fmt.Errorf("%s is in use, although it is marked for removal: %w", key, errItem)
	}
	if errors.Is(err, table.ErrNoRecord) {
		return nil
	}
	return err
}

func (p *purge) remove(ctx context.Context, items []item) error {
	requests := make([]types.WriteRequest, len(items))
	for i, it := range items {
		requests[i] = call.DeleteRequest(attribute.Bytes(it[attrHash]), attribute.Bytes(it[attrSort]))
	}
	if _, err := p.db.BatchWrite(ctx, requests); err != nil || len(items) == 0 {
		return err
	}
	p.done.Items += len(items)
	return p.reportProgress()
}

// The method writes processes the notes about writes that did not finish. It removes the chunks of these writes that no
// entity uses.
func (p *purge) writes(ctx context.Context) error {
	return p.each(ctx, pendingHash, nil, func(ctx context.Context, notes []item) error {
		for _, note := range notes {
			if !p.due(note) {
				return nil // notes are sorted by the time from which Purge may process them
			}
			if err := p.write(ctx, note); err != nil {
				return err
			}
		}
		return nil
	})
}

func (p *purge) write(ctx context.Context, note item) error {
	var l rebucket.Spread
	bucket, err := strconv.ParseUint(attribute.Digits(note[attrBuckets]), 10, 16)
	if err != nil || copy(l.Incarnation[:], attribute.Bytes(note[attrIncarnation])) != len(l.Incarnation) {
		return errItem
	}
	var used chunks
	it, err := p.db.Get(ctx, call.Key(hashKey(kindEntity, l, uint16(bucket)), attribute.Bytes(note[attrEntity])), table.Strong)
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
			requests = append(requests, chunkDeletes(hashKey(kindChunk, l, uint16(bucket)), c)...)
		}
	}
	if _, err := p.db.BatchWrite(ctx, requests); err != nil {
		return err
	}
	if _, err := p.db.BatchWrite(ctx, []types.WriteRequest{call.DeleteRequest(pendingHash, attribute.Bytes(note[attrSort]))}); err != nil {
		return err
	}
	p.done.Items += len(requests) + 1
	return p.reportProgress()
}
