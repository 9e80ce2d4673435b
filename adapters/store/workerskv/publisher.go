package workerskv

import (
	"context"
	"errors"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Publisher writes changes of a primary store to a replica. It is not safe for concurrent use.
//
// The caller must be the only writer of the data in the primary. It passes changes in order, and repeats each change at
// least until the Publisher reports it as done.
type Publisher struct {
	ns    Namespace
	now   func() edm.Ticks
	wrote map[string]edm.Ticks // the time of the last write of each name; needed for one second, because KV permits one write of a name per second
}

// maxResting limits the size of Publisher.wrote. At this size, the method write removes the names that can be written
// again.
const maxResting = 1000

// NewPublisher returns a Publisher that writes to a namespace.
func NewPublisher(ns Namespace, now func() edm.Ticks) *Publisher {
	return &Publisher{ns: ns, now: now, wrote: make(map[string]edm.Ticks)}
}

// Rows publishes changes of entities of one incarnation of a table, given in order. Of several changes of one key, it
// publishes the last. The result done reports for each change whether the replica has it, and err is the first error.
//
// If err is nil, the caller must wait a second and repeat the changes that are not done.
//
// If err is not nil, a change that is not done may still be published. After some seconds, the caller must publish it
// again, or a later change of the same key.
func (p *Publisher) Rows(ctx context.Context, incarnation table.Incarnation, changes []table.Change) (done []bool, err error) {
	done = make([]bool, len(changes))
	last := make(map[string]int, len(changes))
	for i := range changes {
		last[string(changes[i].Key)] = i
	}
	prefix := entityPrefix(incarnation)
	writes := make([]Write, 0, len(changes))
	of := make([]int, 0, len(changes))
	for i := range changes {
		if c := &changes[i]; last[string(c.Key)] == i {
			writes, of = append(writes, rowWrite(prefix, c)), append(of, i)
		}
	}
	for i, outcome := range p.write(ctx, writes) {
		done[of[i]] = outcome == nil
		if err == nil && !IsTooSoon(outcome) {
			err = outcome
		}
	}
	for i := range changes { // a change is done if the last change of the same key is done
		done[i] = done[last[string(changes[i].Key)]]
	}
	return done, err
}

func rowWrite(prefix string, c *table.Change) Write {
	switch {
	case len(c.Key) > maxKey:
		w := Write{Name: markOf(prefix, c.Key), Delete: c.Row == nil}
		if !w.Delete {
			w.Metadata = metadataCode.AppendEncode(nil, appendStamp([]byte{formMark}, c.Ticks))
		}
		return w
	case c.Row == nil:
		return cellWrite(nameOf(prefix, c.Key), nil)
	}
	return cellWrite(nameOf(prefix, c.Key), table.AppendRow(nil, c.Row))
}

// Record publishes a record. The parameter ticks determines the revision of the record in the replica.
func (p *Publisher) Record(ctx context.Context, r table.Record, ticks edm.Ticks) error {
	name, ok := recordName(r.Key)
	if !ok {
		return table.ErrKeyTooLong
	}
	return p.writeOne(ctx, name, encodeRecord(&r, ticks))
}

// RemoveRecord removes the record with the given key, as text, from the replica.
func (p *Publisher) RemoveRecord(ctx context.Context, key string) error {
	return p.writeOne(ctx, spaceRecords+key, nil)
}

// Purge deletes all entities of a dropped incarnation. It also deletes the times that Synced has recorded for sources
// whose names begin with the given text. All publishers of the incarnation must have stopped.
//
// Purge makes at most the given number of KV calls, and reports whether more work remains.
func (p *Publisher) Purge(ctx context.Context, incarnation table.Incarnation, sources string, maxCalls int) (hasMore bool, err error) {
	err = purge(ctx, p.ns, &budget{calls: maxCalls}, spaceSyncs+sources, entityPrefix(incarnation))
	if errors.Is(err, errSpent) {
		return true, nil
	}
	return err != nil, err
}

// Synced records that all changes of a source before a time are published. A source is a writer of the primary, such as
// a bucket of a table.
func (p *Publisher) Synced(ctx context.Context, source string, until edm.Ticks) error {
	return p.writeOne(ctx, spaceSyncs+source, appendStamp(nil, until))
}

// Forget removes the time that Synced has recorded for a source.
func (p *Publisher) Forget(ctx context.Context, source string) error {
	return p.writeOne(ctx, spaceSyncs+source, nil)
}

// errRests means that the name was written less than a second ago.
var errRests = errors.New("name rests")

// writeOne writes body as the cell of one name, or deletes the name if body is nil.
func (p *Publisher) writeOne(ctx context.Context, name string, body []byte) error {
	return p.write(ctx, []Write{cellWrite(name, body)})[0]
}

// write sends writes of different names to KV concurrently. It returns errRests for a name that was written less than a
// second ago, by this Publisher or by another instance.
func (p *Publisher) write(ctx context.Context, writes []Write) []error {
	now := p.now()
	if len(p.wrote) >= maxResting {
		for name, at := range p.wrote {
			if at > now || now >= at+interval {
				delete(p.wrote, name)
			}
		}
	}
	outcomes := make([]error, len(writes))
	do := make([]Write, 0, len(writes))
	for i, w := range writes {
		if at, ok := p.wrote[w.Name]; ok && at <= now && now < at+interval {
			outcomes[i] = errRests
			continue
		}
		p.wrote[w.Name] = now
		do = append(do, w)
	}
	if len(do) == 0 {
		return outcomes
	}
	answers := p.ns.Write(ctx, do)
	now = p.now()
	for i, w := range writes {
		if outcomes[i] != nil {
			continue
		}
		p.wrote[w.Name] = now
		if outcomes[i] = answers[0]; isRefused(outcomes[i]) {
			outcomes[i] = errRests
		}
		answers = answers[1:]
	}
	return outcomes
}

// IsTooSoon reports whether a call failed only because the name was written less than a second ago. The caller must
// then retry later.
func IsTooSoon(err error) bool { return errors.Is(err, errRests) }
