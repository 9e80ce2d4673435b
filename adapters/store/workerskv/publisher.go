package workerskv

import (
	"context"
	"errors"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Publisher writes a replica, for whoever alone writes the primary: the object
// that has a bucket, or a catalog. What it is told is in order; it may be told
// again what it was told before, and must be when it did not say that it was
// done. It is not safe for concurrent use.
type Publisher struct {
	ns    Namespace
	now   func() edm.Ticks
	wrote map[string]edm.Ticks // names that rest
}

// NewPublisher makes a publisher over a namespace.
func NewPublisher(ns Namespace, now func() edm.Ticks) *Publisher {
	return &Publisher{ns: ns, now: now, wrote: make(map[string]edm.Ticks)}
}

// Change is a state that an entity took.
type Change struct {
	Key   []byte
	Ticks edm.Ticks  // of the row, or issued for the delete
	Row   *table.Row // nil: it was deleted
}

// Rows publishes changes of one life of a table, which are in order, each key's
// last. It reports of each change whether the replica is as new, and returns the
// first error. Without an error the changes that are not done must wait a second,
// because their names were just written.
//
// After an error a change may have been published or may yet be: it is to be
// published again, or a later one of its key, after some seconds.
func (p *Publisher) Rows(ctx context.Context, life table.Incarnation, changes []Change) (done []bool, err error) {
	done = make([]bool, len(changes))
	last := make(map[string]int, len(changes))
	for i := range changes {
		last[string(changes[i].Key)] = i
	}
	prefix := entities(lifeOf(life))
	writes := make([]Write, 0, len(changes))
	of := make([]int, 0, len(changes))
	for i := range changes {
		if c := &changes[i]; last[string(c.Key)] == i {
			writes, of = append(writes, rowWrite(prefix, c)), append(of, i)
		}
	}
	for i, became := range p.write(ctx, writes) {
		done[of[i]] = became == nil
		if err == nil && !Rests(became) {
			err = became
		}
	}
	for i := range changes { // what a later one made superfluous is as done as that
		done[i] = done[last[string(changes[i].Key)]]
	}
	return done, err
}

func rowWrite(prefix string, c *Change) Write {
	switch {
	case len(c.Key) > MaxKey:
		w := Write{Name: markOf(prefix, c.Key), Gone: c.Row == nil}
		if !w.Gone {
			w.Metadata = metadataCode.AppendEncode(nil, appendStamp([]byte{formMark}, c.Ticks))
		}
		return w
	case c.Row == nil:
		return cellWrite(nameOf(prefix, c.Key), nil)
	}
	return cellWrite(nameOf(prefix, c.Key), table.AppendRow(nil, c.Row))
}

// Document publishes a document, whose revision in the replica is of ticks.
func (p *Publisher) Document(ctx context.Context, d table.Record, ticks edm.Ticks) error {
	key := d.Key.String()
	if badKey(key) {
		return table.ErrKeyTooLong
	}
	return p.one(ctx, spaceDocuments+key, encodeDocument(&d, ticks))
}

// RemoveDocument publishes that there is no document with this key.
func (p *Publisher) RemoveDocument(ctx context.Context, key string) error {
	return p.one(ctx, spaceDocuments+key, nil)
}

// Purge deletes a life of a table that ended, and what Synced recorded of the
// sources whose names begin with sources, with at most so many calls of the
// namespace, and reports whether there is more to delete. Whoever publishes into
// it has stopped before.
func (p *Publisher) Purge(ctx context.Context, life table.Incarnation, sources string, calls int) (more bool, err error) {
	err = purge(ctx, p.ns, &budget{calls: calls}, spaceSyncs+sources, entities(lifeOf(life)))
	if errors.Is(err, errSpent) {
		return true, nil
	}
	return err != nil, err
}

// Synced records that all changes of one source before until are published.
// Sources have names such as account/table/bucket.
func (p *Publisher) Synced(ctx context.Context, source string, until edm.Ticks) error {
	return p.one(ctx, spaceSyncs+source, appendStamp(nil, until))
}

// Forget removes what Synced recorded of a source.
func (p *Publisher) Forget(ctx context.Context, source string) error {
	return p.one(ctx, spaceSyncs+source, nil)
}

// errRests: the name was written less than a second ago.
var errRests = errors.New("name rests")

// one writes a cell, or deletes it.
func (p *Publisher) one(ctx context.Context, name string, body []byte) error {
	return p.write(ctx, []Write{cellWrite(name, body)})[0]
}

// write does those of the writes whose names do not rest, all at once: a name is
// never in it twice. A name that KV says rests, since it was written by our
// predecessor, is taken to be.
func (p *Publisher) write(ctx context.Context, writes []Write) []error {
	now := p.now()
	if len(p.wrote) >= maxSlots {
		for name, at := range p.wrote {
			if at > now || now >= at+interval {
				delete(p.wrote, name)
			}
		}
	}
	became := make([]error, len(writes))
	do := make([]Write, 0, len(writes))
	for i, w := range writes {
		if at, ok := p.wrote[w.Name]; ok && at <= now && now < at+interval {
			became[i] = errRests
			continue
		}
		p.wrote[w.Name] = now
		do = append(do, w)
	}
	if len(do) == 0 {
		return became
	}
	answers := p.ns.Write(ctx, do)
	now = p.now()
	for i, w := range writes {
		if became[i] != nil {
			continue
		}
		p.wrote[w.Name] = now
		if became[i] = answers[0]; isRefused(became[i]) {
			became[i] = errRests
		}
		answers = answers[1:]
	}
	return became
}

// Rests reports whether an error of Document, RemoveDocument, Synced or Forget
// only says that the name was written a moment ago.
func Rests(err error) bool { return errors.Is(err, errRests) }
