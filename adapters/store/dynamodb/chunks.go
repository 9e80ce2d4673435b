package dynamodb

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/adapters/store/dynamodb/internal/attribute"
	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// newChunks returns new chunks for the given properties. An entity has at most five chunks: the protocol's limit of 1
// MiB in UTF-16 is at most 1.6 MiB in UTF-8.
func (s *Store) newChunks(p edm.Properties) chunks {
	return chunks{s.newVersion(), (len(p) + chunkSize - 1) / chunkSize, len(p)}
}

var errStale = &call.Error{Class: call.Stale, Err: errors.New("dynamodb: an entity was replaced again and again while it was read")}

// load reads the chunks of entities in one bucket, and decodes the properties. The properties of an entity are nil if
// one of its chunks was removed, or has not reached the replica yet.
func (s *Store) load(ctx context.Context, hash []byte, rows []*stored, c table.Consistency) error {
	found := make(map[string][]byte)
	var keys []item
	flush := func() error {
		err := s.db.BatchGet(ctx, keys, c, func(it item) {
			found[string(attribute.Bytes(it[attrSort]))] = attribute.Bytes(it[attrData])
		})
		keys = keys[:0]
		return err
	}
	for _, r := range rows {
		for i := range r.chunks.count {
			keys = append(keys, call.Key(hash, r.chunks.sort(i)))
			// If the items of a call exceed 16 MiB, DynamoDB returns the remaining keys as unprocessed, and BatchGet
			// sends them again.
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
		// Valid may accept properties whose last bytes are missing, so the length is also compared with the stored
		// size.
		if r.Properties != nil && (len(r.Properties) != r.chunks.size || !r.Properties.Valid()) {
			return errItem
		}
	}
	return nil
}

func chunkPuts(hash []byte, c chunks, p edm.Properties) []types.WriteRequest {
	list := make([]types.WriteRequest, 0, c.count)
	for i := range c.count {
		it := call.Key(hash, c.sort(i))
		it[attrData] = attribute.Binary(p[i*chunkSize : min((i+1)*chunkSize, len(p))])
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

// chunkWrite is a write that creates or replaces chunks. A note names the chunks until the write has ended. If the
// process ends earlier, Purge finds the note and removes the chunks that no entity uses.
type chunkWrite struct {
	hash     []byte // hash key of the chunks
	note     []byte // sort key of the note
	due      edm.Ticks
	old, new chunks
	late     bool // requests that write chunks may reach DynamoDB after the call has returned
}

// litterAge is the age of a note at which Purge may assume that the write has finished. It is much longer than any
// Deadline.
const litterAge = edm.TicksPerSecond * 3600

var pendingHash = []byte{kindPending}

// limitCalls returns a context under which no call is sent after a time limit. After the limit, Purge may remove the
// chunks of the given writes.
func limitCalls(ctx context.Context, list ...*chunkWrite) context.Context {
	for _, p := range list {
		ctx = call.WithDeadline(ctx, p.due-litterAge/2)
	}
	return ctx
}

// prepare must be called before a write that replaces or creates chunks. It stores a note about the write, and then new
// chunks for the properties in spilled. If spilled is nil, there are no new chunks.
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
	it[attrDue] = attribute.Number(due)
	it[attrIncarnation] = attribute.Binary(p.Incarnation[:])
	it[attrBuckets] = attribute.Number(bucket)
	it[attrEntity] = attribute.Binary(k)
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

// finish removes the given chunks, and then the note about the write. If it cannot remove the chunks, or if new chunks
// may still arrive, the note remains, and Purge removes the chunks.
func (s *Store) finish(ctx context.Context, w *chunkWrite, gone chunks) {
	if _, err := s.db.BatchWrite(ctx, chunkDeletes(w.hash, gone)); err == nil && !w.late {
		_, _ = s.db.BatchWrite(ctx, []types.WriteRequest{call.DeleteRequest(pendingHash, w.note)})
	}
}
