package postgres

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/lend"
	"edgetable/adapters/store/postgres/ruled"
	"edgetable/adapters/store/postgres/statement"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// maxKey is the maximum length of an encoded key in bytes. PostgreSQL rejects an index entry above 2,704 bytes, unless
// it compresses well.
const maxKey = 2600

// Commit implements [table.Store].
func (s *Store) Commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	if len(m) > table.MaxBatchOperations {
		return 0, table.TooManyOperations()
	}
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer cancel()
	for i := range m {
		if len(m[i].Key) > maxKey {
			return 0, &table.Refused{Index: i, Err: table.ErrKeyTooLong}
		}
	}
	// If the caller's context ends, Commit returns while the store may still be sending the mutations. The store
	// therefore uses a copy.
	m = slices.Clone(m)
	for i := range m {
		m[i].Key, m[i].Properties = slices.Clone(m[i].Key), slices.Clone(m[i].Properties)
	}
	c := &commitment{Store: s, account: strings.Clone(name.Account), name: strings.Clone(name.String()), mutations: m}
	ticks, err := c.run(ctx)
	return ticks, s.commitError(ctx, err)
}

func (s *Store) commitError(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*table.Refused](err); ok || err == nil || errors.Is(err, table.ErrNoTable) || errors.Is(err, table.ErrUnknown) {
		return err
	}
	if errors.Is(err, table.ErrBusy) {
		return err // nothing was applied, because a read before the write failed
	}
	switch classify(err) {
	case full:
		return errors.Join(table.ErrFull, err)
	case broken:
		return err
	case lost:
		return errors.Join(table.ErrUnknown, err)
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errTimeout) {
		return cause // nothing was applied
	}
	return errors.Join(table.ErrBusy, err)
}

type commitment struct {
	*Store
	account, name string
	mutations     []table.Mutation
	states        []state      // states of the entities; nil until they are read, see needsState
	declared      *ruled.Table // cached options of the table, or nil
}

// run applies all mutations or none. If a statement writes nothing, run reads the entities to find the reason.
// Depending on the reason, run then returns a refusal or sends the statements again.
func (c *commitment) run(ctx context.Context) (edm.Ticks, error) {
	c.declared = c.ruled.Find(c.name)
	c.useCachedState()
	for try := 0; ; try++ {
		if c.states == nil && c.needsStates() {
			if err := c.checkStates(ctx); err != nil {
				return 0, err
			}
		}
		list, err := planAll(c.name, c.mutations, c.states, c.declared)
		if err != nil {
			return 0, err
		}
		ticks, err := c.write(ctx, list)
		if err == nil {
			c.cacheState(list)
			return ticks, nil
		}
		c.dropStates()
		switch class := classify(err); {
		case errors.Is(err, table.ErrUnknown) || isHalted(err):
			return 0, err
		case class == refused:
			if err := c.checkStates(ctx); err != nil {
				return 0, err
			}
			c.counters.behind.Add(1)
			if ctx.Err() != nil {
				return 0, &unsentError{context.Cause(ctx)}
			}
		case class == again || class == moved:
			c.counters.retry(class)
			if pause(ctx, try) != nil {
				return 0, err
			}
		default:
			return 0, err
		}
	}
}

func (c *commitment) needsStates() bool {
	return slices.ContainsFunc(c.mutations, func(m table.Mutation) bool { return needsState(&m, c.declared) })
}

// usesCache reports whether the commit uses the cache of entity states. Only a single write that needs the state of its
// entity uses the cache.
func (c *commitment) usesCache() bool { return len(c.mutations) == 1 && c.needsStates() }

// checkStates reads the entities in one snapshot and advances the clock past their Timestamps. The error is a
// *table.Refused if a mutation is not permitted.
func (c *commitment) checkStates(ctx context.Context) (err error) {
	if c.states, err = c.readStates(ctx); err != nil {
		return err
	}
	if !c.states[0].live {
		return table.ErrNoTable
	}
	c.declared = c.states[0].declared
	for i, m := range c.mutations {
		if _, err := c.declared.Rules().Apply(c.states[i].row, m, c.states[i].at); err != nil {
			return &table.Refused{Index: i, Err: err}
		}
		c.clock.Raise(c.states[i].highest())
	}
	return nil
}

func (c *commitment) readStates(ctx context.Context) ([]state, error) {
	if len(c.mutations) == 1 {
		one, err := c.readOneState(ctx, c.name, c.mutations[0].Key)
		return []state{one}, err
	}
	keys := make([][]byte, len(c.mutations))
	for i, m := range c.mutations {
		keys[i] = m.Key
	}
	return c.readStatesOf(ctx, lend.Client{Use: lend.Writes, Account: c.account}, c.name, keys)
}

// write sends a single write in a round with writes of other callers. It sends a batch as a separate transaction.
func (c *commitment) write(ctx context.Context, list []*write) (edm.Ticks, error) {
	if len(list) == 1 {
		err := c.put(ctx, list[0])
		return list[0].ticks, err
	}
	return c.runDetached(ctx, func(ctx context.Context) (edm.Ticks, error) { return c.writeAll(ctx, list) })
}

// writeAll sends the writes of a batch as one transaction. If the reply is lost, writeAll finds out whether the writes
// were applied.
func (c *commitment) writeAll(ctx context.Context, list []*write) (edm.Ticks, error) {
	ticks, err := c.clock.Next(ctx)
	if err != nil {
		return 0, err
	}
	var calls []statement.Call
	if line := list[0].line; line != nil {
		calls = append(calls, statement.FeedBatch.With([]byte(c.name), statement.Int8(int64(ticks)), line, statement.Int8(int64(c.declared.Revision))))
	}
	for _, w := range list {
		if w.ticks = ticks; w.isTooLate() {
			return 0, errWroteNothing
		}
	}
	calls = append(calls, callsOf(list, true)...)
	err = c.once(ctx, lend.Client{Use: lend.Writes, Account: c.account}, func(_ context.Context, conn *pgconn.PgConn) error {
		_, err := c.sendTransaction(conn, calls)
		return err
	})
	if classify(err) == lost && err != nil {
		err = c.resolveBatch(ctx, list, err)
	}
	return ticks, err
}

// useCachedState makes a single write use the cached state of its entity. If this state does not permit the write,
// useCachedState ignores the state, because it may be outdated.
func (c *commitment) useCachedState() {
	if !c.usesCache() {
		return
	}
	m := &c.mutations[0]
	if row := c.known.Get(c.name, m.Key); row != nil {
		known := state{live: true, row: row, declared: c.declared}
		if c.declared != nil {
			known.at = c.clock.Instant()
		}
		if _, err := c.declared.Rules().Apply(row, *m, known.at); err == nil {
			c.states = []state{known}
		}
	}
}

// cacheState caches the new state of the entity if the commit uses the cache.
func (c *commitment) cacheState(list []*write) {
	switch {
	case !c.usesCache():
	case list[0].properties == nil:
		c.known.Forget(c.name, list[0].key)
	default:
		w := list[0]
		c.known.Put(w.name, w.key, table.Row{Timestamp: w.ticks, Nonce: w.nonce, Properties: edm.Properties(w.properties)})
	}
}

// dropStates discards the states that the commit has used, and removes the entity from the cache if the commit uses the
// cache.
func (c *commitment) dropStates() {
	if c.usesCache() {
		c.known.Forget(c.name, c.mutations[0].Key)
	}
	c.states = nil
}
