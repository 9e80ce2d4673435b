package dynamodb

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// newChunks names chunks for properties. An entity has at most five chunks: the protocol permits 1 MiB and counts
// 2 bytes for each character, but UTF-8 may take 3 bytes, so that about 1.6 MiB are stored.
func (s *Store) newChunks(p edm.Properties) chunks {
	return chunks{s.newVersion(), (len(p) + chunkSize - 1) / chunkSize, len(p)}
}

// errStale means that an entity was replaced while it was being read.
var errStale = &call.Error{Class: call.Stale, Err: errors.New("dynamodb: an entity was replaced again and again while it was read")}

// load reads the properties of entities in one bucket from their chunks. The properties of an entity stay nil if
// its chunks were removed, or have not reached the replica yet.
func (s *Store) load(ctx context.Context, hash []byte, rows []*stored, c table.Consistency) error {
	found := make(map[string][]byte)
	var keys []item
	flush := func() error {
		err := s.db.BatchGet(ctx, keys, c, func(it item) {
			found[string(binaryOf(it[attrSort]))] = binaryOf(it[attrData])
		})
		keys = keys[:0]
		return err
	}
	for _, r := range rows {
		for i := range r.chunks.count {
			keys = append(keys, call.Key(hash, r.chunks.sort(i)))
			// A call with more than 16 MiB of items returns the remaining keys as unprocessed, and BatchGet sends them again.
			if len(keys) == call.MaxReadBatch {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	for _, r := range rows {
		for i := range r.chunks.count {
			data, ok := found[string(r.chunks.sort(i))]
			if !ok {
				r.Properties = nil
				break
			}
			if i == 0 {
				r.Properties = make(edm.Properties, 0, r.chunks.size)
			}
			r.Properties = append(r.Properties, data...)
		}
		// Properties that lack their last bytes may still parse, so the length is checked too.
		if r.Properties != nil && (len(r.Properties) != r.chunks.size || !r.Properties.Valid()) {
			return errItem
		}
	}
	return nil
}

// chunkPuts returns the requests that write the chunks of properties.
func chunkPuts(hash []byte, c chunks, p edm.Properties) []types.WriteRequest {
	list := make([]types.WriteRequest, 0, c.count)
	for i := range c.count {
		it := call.Key(hash, c.sort(i))
		it[attrData] = bin(p[i*chunkSize : min((i+1)*chunkSize, len(p))])
		list = append(list, call.PutRequest(it))
	}
	return list
}

func chunkDeletes(hash []byte, c chunks) []types.WriteRequest {
	list := make([]types.WriteRequest, 0, c.count+1)
	for i := range c.count {
		list = append(list, call.DeleteRequest(hash, c.sort(i)))
	}
	return list
}

// pending is a write that makes or replaces chunks. Before the chunks, a note is written that names them; after
// the write, the note is removed. If the process ends in between, Purge finds the note and removes the chunks that
// no entity names.
type chunkWrite struct {
	hash     []byte // hash key of the chunks
	note     []byte // sort key of the note
	due      edm.Ticks
	old, new chunks
	late     bool // put requests of chunks may still arrive after the write has finished
}

// litterAge is the age at which Purge begins to treat the write of a note as finished. It is much longer than any Deadline.
const litterAge = edm.TicksPerSecond * 3600

var pendingHash = []byte{kindPending}

// until limits when calls that name chunks of pending writes may be sent. Once Purge may have removed the chunks,
// an entity that names them must not be written.
func limitCalls(ctx context.Context, list ...*chunkWrite) context.Context {
	for _, p := range list {
		ctx = call.Until(ctx, p.due-litterAge/2)
	}
	return ctx
}

// prepare writes the note of a write that replaces old chunks or makes new ones, and then writes the new chunks.
// spilled are the properties that go into new chunks; nil makes none.
func (s *Store) prepare(ctx context.Context, p rebucket.Spread, k []byte, old chunks, spilled edm.Properties) (*chunkWrite, error) {
	bucket := p.Bucket(k)
	due := s.now() + litterAge
	w := &chunkWrite{hash: hashKey(kindChunk, p, bucket), old: old, due: due}
	if spilled != nil {
		w.new = s.newChunks(spilled)
	}
	name := s.newVersion()
	w.note = append(binary.BigEndian.AppendUint64(nil, uint64(due)), name[:]...)
	it := call.Key(pendingHash, w.note)
	it[attrDue] = num(due)
	it[attrIncarnation] = bin(p.Incarnation[:])
	it[attrBuckets] = num(bucket)
	it[attrEntity] = bin(k)
	if !w.new.none() {
		it[attrNew] = w.new.attribute()
	}
	if !w.old.none() {
		it[attrOld] = w.old.attribute()
	}
	// The note is written before the first chunk, so that Purge finds all chunks if the process ends.
	if _, err := s.db.BatchWrite(ctx, []types.WriteRequest{call.PutRequest(it)}); err != nil {
		return nil, err
	}
	late, err := s.db.BatchWrite(ctx, chunkPuts(w.hash, w.new, spilled))
	w.late = late
	if err != nil {
		s.finish(ctx, w, w.new)
		return nil, err
	}
	return w, nil
}

// finish removes the chunks in gone, which a finished write left unused, and then the note of the write. If that
// fails, or if chunks may still arrive, the note stays, and Purge removes the chunks and the note later.
func (s *Store) finish(ctx context.Context, w *chunkWrite, gone chunks) {
	if _, err := s.db.BatchWrite(ctx, chunkDeletes(w.hash, gone)); err == nil && !w.late {
		_, _ = s.db.BatchWrite(ctx, []types.WriteRequest{call.DeleteRequest(pendingHash, w.note)})
	}
}
