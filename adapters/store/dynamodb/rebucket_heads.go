package dynamodb

import (
	"bytes"
	"container/heap"
	"context"
	"strconv"
	"sync"
)

// head is what tells two states of an entity apart, without its properties.
type head struct {
	key          []byte
	ticks, nonce string
	size         int // of the item, about
	chunks       chunks
}

func (h *head) same(o *head) bool { return h.ticks == o.ticks && h.nonce == o.nonce }

func readHead(it item) (h head, err error) {
	h.key, h.ticks, h.nonce = binaryOf(it[attrSort]), number(it[attrTicks]), number(it[attrNonce])
	if len(h.key) == 0 || h.ticks == "" || h.nonce == "" {
		return h, errItem
	}
	if a, ok := it[attrChunks]; ok {
		h.size = ownSize + len(h.key)
		h.chunks, err = readChunks(a)
		return h, err
	}
	if h.size, err = strconv.Atoi(number(it[attrSize])); err != nil {
		return h, errItem
	}
	return h, nil
}

// heads are the entities of a table in the order of their keys: the merge of its
// buckets, each of which is read ahead by a page.
type heads struct {
	cancel  context.CancelFunc
	readers sync.WaitGroup
	next    frontier
}

// bucketHeads is one bucket.
type bucketHeads struct {
	pages chan headPage // closed at the end
	page  []head        // not empty; its first is the next
}

type headPage struct {
	heads []head
	err   error
}

// headsAhead bounds the heads that are held for a table, of all its buckets.
const headsAhead = 1 << 15

// heads begins to read a table. It must be closed.
func (s *Store) heads(ctx context.Context, l life) (*heads, error) {
	ctx, cancel := context.WithCancel(ctx)
	h := &heads{cancel: cancel}
	reads := make(chan struct{}, maxFanOut)
	rows := max(headsAhead/2/int(l.buckets), 8)
	for bucket := range l.buckets {
		b := &bucketHeads{pages: make(chan headPage)}
		h.next = append(h.next, b)
		h.readers.Go(func() {
			defer close(b.pages)
			for start := []byte{0}; ; {
				reads <- struct{}{}
				page, next, err := s.headPage(ctx, l.hash(kindEntity, bucket), start, rows)
				<-reads
				select {
				case b.pages <- headPage{page, err}:
				case <-ctx.Done():
					return
				}
				if start = next; err != nil || next == nil {
					return
				}
			}
		})
	}
	begun := h.next[:0]
	for _, b := range h.next {
		there, err := b.turn(ctx)
		if err != nil {
			h.close()
			return nil, err
		}
		if there {
			begun = append(begun, b)
		}
	}
	h.next = begun
	heap.Init(&h.next)
	return h, nil
}

var onlyHeads = newProjection(attrSort, attrTicks, attrNonce, attrSize, attrChunks)

// headPage is one call. start is where it begins and next where the following
// one does, nil at the end.
func (s *Store) headPage(ctx context.Context, hash, start []byte, rows int) (page []head, next []byte, err error) {
	found, err := s.query(ctx, query{hash: hash, first: start, rows: rows, only: onlyHeads})
	if err != nil {
		return nil, nil, err
	}
	page = make([]head, len(found.items))
	for i, it := range found.items {
		if page[i], err = readHead(it); err != nil {
			return nil, nil, err
		}
	}
	if found.next != nil {
		next = append(found.next, 0)
	}
	return page, next, nil
}

// turn goes on to the next page that is not empty; false is the end.
func (b *bucketHeads) turn(ctx context.Context) (bool, error) {
	for {
		select {
		case p, ok := <-b.pages:
			if !ok {
				return false, ctx.Err()
			}
			if p.err != nil {
				return false, p.err
			}
			if b.page = p.heads; len(p.heads) > 0 {
				return true, nil
			}
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// first is the next entity; nil is the end.
func (h *heads) first() *head {
	if len(h.next) == 0 {
		return nil
	}
	return &h.next[0].page[0]
}

// advance goes on behind the first.
func (h *heads) advance(ctx context.Context) error {
	b := h.next[0]
	if b.page = b.page[1:]; len(b.page) == 0 {
		there, err := b.turn(ctx)
		if err != nil {
			return err
		}
		if !there {
			heap.Pop(&h.next)
			return nil
		}
	}
	heap.Fix(&h.next, 0)
	return nil
}

func (h *heads) close() {
	h.cancel()
	h.readers.Wait()
}

// frontier orders buckets by their next entities.
type frontier []*bucketHeads

func (f frontier) Len() int           { return len(f) }
func (f frontier) Less(i, j int) bool { return bytes.Compare(f[i].page[0].key, f[j].page[0].key) < 0 }
func (f frontier) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }
func (f *frontier) Push(any)          { panic("no bucket begins late") }
func (f *frontier) Pop() any {
	*f = (*f)[:len(*f)-1]
	return nil
}
