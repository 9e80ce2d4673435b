package rebucket

import (
	"bytes"
	"container/heap"
	"context"
	"sync"
)

// heads is an iterator over the entities of a table in key order, without their properties. It merges the buckets, and
// reads each bucket one page ahead.
type heads struct {
	cancel  context.CancelFunc
	readers sync.WaitGroup
	next    frontier
}

type bucketHeads struct {
	pages chan headPage // channel that is closed when the bucket has been read completely
	page  []Head        // heads that were read; never empty, and the first one is the next entity
}

type headPage struct {
	heads []Head
	err   error
}

const maxReads = 32

// headsAhead is the maximum number of heads in memory for all buckets of a table.
const headsAhead = 1 << 15

// read starts goroutines that read a table. The caller must close the returned heads.
func (e *Env) read(ctx context.Context, p Spread) (*heads, error) {
	ctx, cancel := context.WithCancel(ctx)
	h := &heads{cancel: cancel}
	reads := make(chan struct{}, maxReads)
	rows := max(headsAhead/2/int(p.Buckets), 8)
	for bucket := range p.Buckets {
		b := &bucketHeads{pages: make(chan headPage)}
		h.next = append(h.next, b)
		h.readers.Go(func() {
			defer close(b.pages)
			for start := []byte{0}; ; {
				reads <- struct{}{}
				page, next, err := e.Heads(ctx, p, bucket, start, rows)
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
		there, err := b.nextPage(ctx)
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

// nextPage waits for the next page of the bucket, and skips empty pages. It returns false at the end of the bucket.
func (b *bucketHeads) nextPage(ctx context.Context) (bool, error) {
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

// first returns the current entity, or nil at the end.
func (h *heads) first() *Head {
	if len(h.next) == 0 {
		return nil
	}
	return &h.next[0].page[0]
}

func (h *heads) advance(ctx context.Context) error {
	b := h.next[0]
	if b.page = b.page[1:]; len(b.page) == 0 {
		there, err := b.nextPage(ctx)
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

// frontier is a heap of buckets, ordered by the keys of their next entities.
type frontier []*bucketHeads

func (f frontier) Len() int           { return len(f) }
func (f frontier) Less(i, j int) bool { return bytes.Compare(f[i].page[0].Key, f[j].page[0].Key) < 0 }
func (f frontier) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }
func (f *frontier) Push(any)          { panic("no bucket begins late") }
func (f *frontier) Pop() any {
	*f = (*f)[:len(*f)-1]
	return nil
}
