package durableobject

import (
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/table"
)

// Store implements [table.Store] on Durable Objects. Create one with [New].
type Store struct {
	o     Options
	pause Pauser // the Caller, if it is a Pauser; otherwise nil
	// window is the maximum number of ranges that are asked for one page of a feed.
	window int
}

var _ table.Store = (*Store)(nil)

// Declares implements [table.Declaring].
func (*Store) Declares() (name string, expiry bool) { return "Durable Objects", true }

// New returns a Store. It makes no calls.
func New(o Options) (*Store, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Store{o: o, window: fanOut}
	s.pause, _ = o.Caller.(Pauser)
	return s, nil
}

// objectAt returns the object that serves a position in a bucket of a table, according to the cache.
func (s *Store) objectAt(name string, bucket uint16, position []byte) message.Destination {
	return s.find(&message.CacheRequest{Kind: message.FindRange, Table: name, Bucket: bucket, Position: position})
}

// objectOfKey returns the object that serves a key of a table, according to the cache.
func (s *Store) objectOfKey(name string, k []byte) message.Destination {
	return s.find(&message.CacheRequest{Kind: message.FindRange, Table: name, OfKey: true, Position: k})
}

func (s *Store) find(w *message.CacheRequest) message.Destination {
	r := message.Read(s.o.Maps(message.AppendCacheRequest(make([]byte, 0, 64+len(w.Table)+len(w.Position)), w)))
	p := r.FoundRange()
	if !r.Done() || p.Buckets == 0 {
		p = message.Destination{Buckets: s.o.Buckets, Location: s.o.Location}
	}
	p.Table = w.Table
	return p
}

// cacheLayout stores the layout of a table in the cache.
func (s *Store) cacheLayout(name string, where message.Layout) {
	s.o.Maps(message.AppendCacheRequest(nil, &message.CacheRequest{Kind: message.LearnLayout, Table: name, Layout: where}))
}

// learnRanges stores the ranges around a position in the cache.
func (s *Store) learnRanges(p *message.Destination, position []byte, near *message.RangedError) {
	s.o.Maps(message.AppendCacheRequest(nil, &message.CacheRequest{
		Kind: message.LearnRanges, Table: p.Table, Layout: message.Layout{Buckets: p.Buckets, Location: p.Location},
		Bucket: near.Bucket, Position: position, Excerpt: near.Ranges,
	}))
}
