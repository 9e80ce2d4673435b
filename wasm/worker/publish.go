package main

import (
	"context"
	"errors"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/workerskv"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// publisher writes the batches of Durable Objects to Workers KV.
type publisher struct{ host host }

const (
	// writeTime is the time after the start of a batch in which its writes may begin. No write waits in a queue,
	// because the shell makes only six at a time, the platform's limit.
	//
	// Up to 5 s pass before the start. So the last write begins before the object stops waiting (after 10 s), and 51 s
	// before the timeout of the batch (60 s).
	writeTime = 4 * edm.TicksPerSecond
	// purgeStep is the maximum number of KV calls in one step of a purge.
	purgeStep = 200
)

// publish executes a batch and appends its result.
func (p *publisher) publish(dst, batch []byte) []byte {
	b, err := durableobject.ReadBatch(batch)
	if err != nil {
		panic(err.Error()) // this cannot fail, because this module encoded the batch
	}
	to := workerskv.NewPublisher(&namespace{call: p.host.kv, writesUntil: p.host.now() + writeTime}, p.host.now)
	result := durableobject.Published{Done: make([]bool, len(b.Changes))}
	if b.Purge {
		result.More, err = to.Purge(context.Background(), b.Incarnation, durableobject.SourcesOf(b.Incarnation), purgeStep)
	} else {
		err = publish(to, &b, &result)
	}
	if result.Certain = err == nil; err != nil {
		result.Failed = true
		p.host.log(levelError, appendFailure(nil, b.Source, err))
	}
	return result.Append(dst)
}

func appendFailure(dst []byte, source string, err error) []byte {
	dst = appendQuoted(append(dst, `{"msg":"replica","source":`...), source)
	return append(appendQuoted(append(dst, `,"cause":`...), err.Error()), '}')
}

func publish(to *workerskv.Publisher, b *durableobject.Batch, result *durableobject.Published) error {
	ctx := context.Background()
	var err error
	switch {
	case b.Lagging:
		err = to.Synced(ctx, b.Source, b.Since)
	case b.CaughtUp:
		err = to.Forget(ctx, b.Source)
	}
	if err != nil && !workerskv.IsTooSoon(err) {
		return err
	}
	result.Marked = err == nil
	rows := make([]table.Change, 0, len(b.Changes))
	for _, c := range b.Changes {
		if c.Key != nil {
			rows = append(rows, c)
		}
	}
	done, err := to.Rows(ctx, b.Incarnation, rows)
	for i := range b.Changes {
		c := &b.Changes[i]
		if c.Key != nil {
			result.Done[i], done = done[0], done[1:]
			continue
		}
		if err == nil {
			one := document(to, c)
			if result.Done[i] = one == nil; !workerskv.IsTooSoon(one) {
				err = one
			}
		}
	}
	return err
}

func document(to *workerskv.Publisher, c *table.Change) error {
	if c.Record == nil {
		return to.RemoveRecord(context.Background(), c.Name)
	}
	err := to.Record(context.Background(), *c.Record, c.Ticks)
	if errors.Is(err, table.ErrKeyTooLong) {
		return nil // the key is too long for a replica
	}
	return err
}

// lastSync returns a function that returns the time up to which the replica has all changes. The function's result
// known is false until it has read this time.
func lastSync(replica *workerskv.Replica, now func() edm.Ticks) func() (last edm.Ticks, known bool) {
	const (
		// An object reports a lag after at most two minutes, and KV may return old states for one more.
		behind = 180 * edm.TicksPerSecond
		fresh  = 10 * edm.TicksPerSecond
	)
	var asked, last edm.Ticks
	return func() (edm.Ticks, bool) {
		t := now()
		if asked != 0 && t >= asked && t < asked+fresh {
			return last, true
		}
		until, ok, err := replica.Synced(context.Background(), "")
		switch {
		case err != nil: // the time that was read last remains valid
			return last, asked != 0
		case ok:
			last = min(until, t-behind)
		default:
			last = t - behind
		}
		asked = t
		return last, true
	}
}

// reader is a store that sends eventually consistent reads to the replica. It embeds the concrete store, because
// interface calls would enlarge the module.
type reader struct {
	*durableobject.Store
	replica *workerskv.Replica
	synced  func() (last edm.Ticks, known bool)
	now     func() edm.Ticks
}

// maxLag is the age of LastSyncTime above which the replica is reported as unavailable. Changes normally take seconds,
// but a free account can use up its daily writes.
const maxLag = 15 * 60 * edm.TicksPerSecond

func withReplica(store *durableobject.Store, h host) table.Store {
	replica := workerskv.NewReplica(&namespace{call: h.kv}, store, 0)
	return &reader{store, replica, lastSync(replica, h.now), h.now}
}

// Replication implements [table.Replicated].
func (r *reader) Replication() table.Replication {
	last, known := r.synced()
	state := table.Replication{Status: table.Live, LastSync: last}
	switch {
	case !known || last != 0 && r.now()-last > maxLag:
		state.Status = table.Unavailable
	case last == 0:
		state.Status = table.Bootstrap
	}
	return state
}

// Get implements [table.Store].
func (r *reader) Get(ctx context.Context, name table.RecordKey, k []byte, c table.Consistency) (table.Row, error) {
	if c == table.Eventual {
		return r.replica.Get(ctx, name, k, c)
	}
	return r.Store.Get(ctx, name, k, c)
}

// Scan implements [table.Store].
func (r *reader) Scan(ctx context.Context, name table.RecordKey, s table.ScanRequest) (table.Page, error) {
	if s.Consistency == table.Eventual && !s.Descending {
		return r.replica.Scan(ctx, name, s)
	}
	return r.Store.Scan(ctx, name, s)
}
