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

// newChunks names chunks for properties. An entity has at most about 1.6 MiB, which is
// five chunks: 1 MiB in which each character counts two bytes and takes three.
func (s *Store) newChunks(p edm.Properties) chunks {
	return chunks{s.newVersion(), (len(p) + chunkSize - 1) / chunkSize, len(p)}
}

// errStale means that an entity was replaced while it was being read.
var errStale = &call.Error{Class: call.Stale, Err: errors.New("dynamodb: an entity was replaced again and again while it was read")}

// load reads the properties of entities in one bucket from their chunks. An entity
// gets no properties if its chunks were removed or have not reached a replica.
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
			// One call reads at most 16 MiB and returns the other keys as unprocessed.
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
		// A shorter list of properties would be valid, and wrong.
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

// pending is a write that makes or replaces chunks. Its note is written before the
// chunks and removed after the write. If the process ends in between, Purge removes
// the chunks that are not in use.
type pending struct {
	hash     []byte // hash key of the chunks
	note     []byte // sort key of the note
	due      edm.Ticks
	old, new chunks
	late     bool // chunks may arrive after the write has finished
}

// litterAge is the time after which Purge treats a noted write as finished. It is much longer than any Deadline.
const litterAge = edm.TicksPerSecond * 3600

var pendingHash = []byte{kindPending}

// until limits the calls that name chunks of pending writes: when Purge may have
// removed the chunks, an entity that names them must not be written.
func until(ctx context.Context, list ...*pending) context.Context {
	for _, p := range list {
		ctx = call.Until(ctx, p.due-litterAge/2)
	}
	return ctx
}

// prepare writes the note of a write that replaces old chunks or makes new ones, and then writes the new chunks.
// Spilled properties go into chunks; nil means that no chunks are made.
func (s *Store) prepare(ctx context.Context, p rebucket.Spread, k []byte, old chunks, spilled edm.Properties) (*pending, error) {
	bucket := p.Bucket(k)
	due := s.now() + litterAge
	w := &pending{hash: hashKey(kindChunk, p, bucket), old: old, due: due}
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
	// The note must exist before the first chunk.
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

// finish removes the chunks that are not needed after a write, and its note. If that fails, or if chunks may still
// arrive, the note stays and Purge removes both later.
func (s *Store) finish(ctx context.Context, w *pending, gone chunks) {
	if _, err := s.db.BatchWrite(ctx, chunkDeletes(w.hash, gone)); err == nil && !w.late {
		_, _ = s.db.BatchWrite(ctx, []types.WriteRequest{call.DeleteRequest(pendingHash, w.note)})
	}
}
