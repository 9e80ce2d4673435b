package workerskv

import (
	"context"
	"errors"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Publisher writes a replica on behalf of the only writer of the primary: a bucket object or a catalog object.
// Changes are passed in order. The caller repeats each change until it is reported as done, and may repeat it even
// later. A Publisher is not safe for concurrent use.
type Publisher struct {
	ns    Namespace
	now   func() edm.Ticks
	wrote map[string]edm.Ticks // time of the last write, for names that cannot be written again yet
}

// maxResting is the number of names above which those that can be written again are removed.
const maxResting = 1000

// NewPublisher makes a publisher over a namespace.
func NewPublisher(ns Namespace, now func() edm.Ticks) *Publisher {
	return &Publisher{ns: ns, now: now, wrote: make(map[string]edm.Ticks)}
}

// Rows publishes changes of entities of one incarnation of a table in order; only the last change of each key counts.
// It reports for each change whether the replica has it, and returns the first error.
//
// Without an error, changes that are not done must wait for a second, because their names were just written. After an
// error, a change may have been published, or may still be. After some seconds, publish it again, or a later one of
// its key.
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
		if err == nil && !Rests(outcome) {
			err = outcome
		}
	}
	for i := range changes { // a change is done when the last change of its key is
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

// Record publishes a record. Its revision in the replica is derived from ticks.
func (p *Publisher) Record(ctx context.Context, r table.Record, ticks edm.Ticks) error {
	name, ok := recordName(r.Key)
	if !ok {
		return table.ErrKeyTooLong
	}
	return p.one(ctx, name, encodeRecord(&r, ticks))
}

// RemoveRecord removes the record with this key, as text, from the replica.
func (p *Publisher) RemoveRecord(ctx context.Context, key string) error {
	return p.one(ctx, spaceRecords+key, nil)
}

// Purge deletes an incarnation that has ended, and the records of Synced of all sources whose names begin with
// sources. It makes at most the given number of KV calls, and reports whether more work remains. All publishers of
// the incarnation must have stopped before.
func (p *Publisher) Purge(ctx context.Context, incarnation table.Incarnation, sources string, calls int) (more bool, err error) {
	err = purge(ctx, p.ns, &budget{calls: calls}, spaceSyncs+sources, entityPrefix(incarnation))
	if errors.Is(err, errSpent) {
		return true, nil
	}
	return err != nil, err
}

// Synced records that all changes of a source before until are published. Sources
// have names such as account/table/bucket.
func (p *Publisher) Synced(ctx context.Context, source string, until edm.Ticks) error {
	return p.one(ctx, spaceSyncs+source, appendStamp(nil, until))
}

// Forget removes the record of Synced of a source.
func (p *Publisher) Forget(ctx context.Context, source string) error {
	return p.one(ctx, spaceSyncs+source, nil)
}

// errRests means that the name was written less than a second ago.
var errRests = errors.New("name rests")

// one writes or deletes a cell.
func (p *Publisher) one(ctx context.Context, name string, body []byte) error {
	return p.write(ctx, []Write{cellWrite(name, body)})[0]
}

// write carries out writes concurrently, except of names that were written less than a second ago. No name occurs
// twice. If KV refuses a name, another instance has just written it, so this one waits too.
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

// Rests reports whether an error of Record, RemoveRecord, Synced or Forget only
// says that the name was just written.
func Rests(err error) bool { return errors.Is(err, errRests) }
