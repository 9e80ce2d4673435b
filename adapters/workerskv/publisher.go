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
	for i := range changes {
		c := &changes[i]
		if last[string(c.Key)] != i {
			continue
		}
		if err := p.row(ctx, prefix, c); errors.Is(err, errRests) {
			continue
		} else if err != nil {
			return finished(done, changes, last), err
		}
		done[i] = true
	}
	return finished(done, changes, last), nil
}

// finished says of changes that a later one made superfluous what is said of that.
func finished(done []bool, changes []Change, last map[string]int) []bool {
	for i := range changes {
		done[i] = done[last[string(changes[i].Key)]]
	}
	return done
}

func (p *Publisher) row(ctx context.Context, prefix string, c *Change) error {
	if len(c.Key) > MaxKey {
		name := markOf(prefix, c.Key)
		if c.Row == nil {
			return p.delete(ctx, name)
		}
		metadata := metadataCode.AppendEncode(nil, appendStamp([]byte{formMark}, c.Ticks))
		return p.write(name, func() error { return p.ns.Put(ctx, name, nil, metadata) })
	}
	name := nameOf(prefix, c.Key)
	if c.Row == nil {
		return p.delete(ctx, name)
	}
	return p.cell(ctx, name, table.AppendRow(nil, c.Row))
}

// Document publishes a document, whose revision in the replica is of ticks.
func (p *Publisher) Document(ctx context.Context, d table.Document, ticks edm.Ticks) error {
	if badKey(d.Key) {
		return table.ErrKeyTooLong
	}
	return p.cell(ctx, spaceDocuments+d.Key, encodeDocument(&d, ticks))
}

// RemoveDocument publishes that there is no document with this key.
func (p *Publisher) RemoveDocument(ctx context.Context, key string) error {
	return p.delete(ctx, spaceDocuments+key)
}

// Purge deletes a life of a table that ended, with at most so many calls of the
// namespace, and reports whether there is more to delete. Whoever publishes into
// it has stopped before.
func (p *Publisher) Purge(ctx context.Context, life table.Incarnation, calls int) (more bool, err error) {
	err = purge(ctx, p.ns, lifeOf(life), &budget{calls: calls})
	if errors.Is(err, errSpent) {
		return true, nil
	}
	return err != nil, err
}

// Synced records that all changes of one source before until are published.
// Sources have names such as account/table/bucket.
func (p *Publisher) Synced(ctx context.Context, source string, until edm.Ticks) error {
	return p.cell(ctx, spaceSyncs+source, appendStamp(nil, until))
}

// Forget removes what Synced recorded of a source.
func (p *Publisher) Forget(ctx context.Context, source string) error {
	return p.delete(ctx, spaceSyncs+source)
}

// errRests: the name was written less than a second ago.
var errRests = errors.New("name rests")

func (p *Publisher) cell(ctx context.Context, name string, body []byte) error {
	value, metadata := encodeCell(body)
	return p.write(name, func() error { return p.ns.Put(ctx, name, value, metadata) })
}

func (p *Publisher) delete(ctx context.Context, name string) error {
	return p.write(name, func() error { return p.ns.Delete(ctx, name) })
}

// write does one write of a name that does not rest. A name that KV says rests,
// since it was written by our predecessor, is taken to be.
func (p *Publisher) write(name string, do func() error) error {
	now := p.now()
	if at, ok := p.wrote[name]; ok && at <= now && now < at+interval {
		return errRests
	}
	if len(p.wrote) >= maxSlots {
		for name, at := range p.wrote {
			if at > now || now >= at+interval {
				delete(p.wrote, name)
			}
		}
	}
	err := do()
	p.wrote[name] = p.now()
	if isRefused(err) {
		return errRests
	}
	return err
}

// Rests reports whether an error of Document, RemoveDocument, Synced or Forget
// only says that the name was written a moment ago.
func Rests(err error) bool { return errors.Is(err, errRests) }
