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

// chunks name the items that hold the properties of an entity that is too large
// for its own, in their stored form, cut into pieces. Chunks never change: a new
// state of the entity has a new version.
type chunks struct {
	version version
	count   int // 0: the properties are not in chunks
	size    int // of all of them in bytes
}

func (c chunks) none() bool { return c.count == 0 }

// attribute is version · count (1 byte) · size (4 bytes).
func (c chunks) attribute() types.AttributeValue {
	b := append(c.version[:len(c.version):len(c.version)], byte(c.count))
	return bin(binary.BigEndian.AppendUint32(b, uint32(c.size)))
}

func readChunks(a types.AttributeValue) (c chunks, err error) {
	b := binaryOf(a)
	if len(b) != len(c.version)+5 || b[len(c.version)] == 0 {
		return c, errItem
	}
	n := copy(c.version[:], b)
	size := binary.BigEndian.Uint32(b[n+1:])
	if size > maxPayload { // it is allocated before the chunks are seen
		return c, errItem
	}
	c.count, c.size = int(b[n]), int(size)
	return c, nil
}

// sort is the sort key of chunk i.
func (c chunks) sort(i int) []byte { return append(c.version[:len(c.version):len(c.version)], byte(i)) }

// newChunks are those that properties will be in. An entity has about 1.6 MiB at
// most, five chunks: 1 MiB where a character counts two bytes, of characters of
// three.
func (s *Store) newChunks(p edm.Properties) chunks {
	return chunks{s.newVersion(), (len(p) + chunkSize - 1) / chunkSize, len(p)}
}

// errStale means an entity was replaced while it was read.
var errStale = &call.Error{Class: call.Stale, Err: errors.New("dynamodb: an entity was replaced again and again while it was read")}

// load reads the properties that are in chunks, for some entities of one bucket.
// An entity whose chunks are gone, or have not reached a replica, is left without.
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
			// What is read in one call is 16 MiB at most; the rest comes again.
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
		// What is cut off would be missing without a word.
		if r.Properties != nil && (len(r.Properties) != r.chunks.size || !r.Properties.Valid()) {
			return errItem
		}
	}
	return nil
}

// chunkPuts are the chunks of properties.
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

// pending is a write that concerns chunks. Its note is written before the chunks
// and removed after the write; what a process leaves undone, Purge clears up.
type pending struct {
	hash     []byte // of the chunks
	note     []byte // sort key of the note
	due      edm.Ticks
	old, new chunks
	late     bool // chunks may arrive when all is over
}

// litterAge is how long after its note a write is taken to be over. It is far
// beyond what a Deadline may be.
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

// prepare notes a write that replaces chunks or makes new ones of properties, and
// writes those.
func (s *Store) prepare(ctx context.Context, p rebucket.Place, k []byte, old chunks, spilled edm.Properties) (*pending, error) {
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
	// The note must be there before the first chunk is.
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

// finish removes the chunks that a write made superfluous, and its note. What
// fails here is left to Purge, and so are chunks that may arrive behind it.
func (s *Store) finish(ctx context.Context, w *pending, gone chunks) {
	if _, err := s.db.BatchWrite(ctx, chunkDeletes(w.hash, gone)); err == nil && !w.late {
		_, _ = s.db.BatchWrite(ctx, []types.WriteRequest{call.DeleteRequest(pendingHash, w.note)})
	}
}
