package postgres

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/lend"
	"edgetable/adapters/store/postgres/ruled"
	"edgetable/adapters/store/postgres/statement"
	"edgetable/core/edm"
	"edgetable/core/table"
)

const maxGets = 128

type state struct {
	live          bool
	floor, purged edm.Ticks
	ticks         edm.Ticks // Timestamp of the row; 0 if there is no row
	row           *table.Row

	hidden   bool         // the table has options, which GetOne and GetMany do not return
	declared *ruled.Table // options of the table, or nil
	at       edm.Ticks    // time of the read, at which expiry is checked; set only if the table has options
}

func (s *state) isExpired() bool { return s.row != nil && s.declared.Rules().Ended(s.row, s.at) }

// highest returns the Timestamp that a new write must exceed.
func (s *state) highest() edm.Ticks { return max(s.floor, s.ticks) }

// readState returns the state in the five columns of a result of GetOne or GetMany.
func readState(key []byte, v [][]byte) (s state) {
	if v[0] == nil {
		return s
	}
	s.live, s.floor, s.purged = true, edm.Ticks(statement.Number(v[0])), edm.Ticks(statement.Number(v[1]))
	s.hidden = s.floor >= statement.Lift
	if v[2] == nil {
		return s
	}
	s.ticks = edm.Ticks(statement.Number(v[2]))
	if v[4] != nil {
		s.row = &table.Row{Key: key, Timestamp: s.ticks, Nonce: uint64(statement.Number(v[3])), Properties: slices.Clone(edm.Properties(v[4]))}
	}
	return s
}

// get is a pending read of one entity.
type get struct {
	name  string
	key   []byte
	state state
	done  chan error
}

// getQueue is a queue of reads that are sent in groups. A group contains the reads that arrived while earlier groups
// were running.
type getQueue struct {
	mu      sync.Mutex
	waiting []*get
	running int
}

// await adds a read to the next group.
func (s *Store) await(g *get) {
	q := &s.getQueue
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, g)
	if q.running < lend.Readers {
		q.running++
		s.background.Go(s.readGroups)
	}
}

func (s *Store) readGroups() {
	q := &s.getQueue
	for {
		q.mu.Lock()
		n := min(len(q.waiting), maxGets)
		if n == 0 {
			q.running--
			q.mu.Unlock()
			return
		}
		group := q.waiting[:n:n]
		q.waiting = q.waiting[n:]
		q.mu.Unlock()
		s.readGroup(group)
	}
}

func (s *Store) readGroup(group []*get) {
	ctx, cancel := context.WithTimeoutCause(s.ctx, s.Timeout, errTimeout)
	defer cancel()
	s.counters.reads.group(len(group))
	err := s.read(ctx, lend.Client{Use: lend.Gets}, func(ctx context.Context, c *pgconn.PgConn) error { return s.getAll(ctx, c, group) })
	for _, g := range group {
		g.done <- err
	}
}

// getAll reads a group of entities. It reads the entities of tables without cached options first, because the result
// shows which tables have options.
func (s *Store) getAll(ctx context.Context, c *pgconn.PgConn, group []*get) error {
	var ruled []*get
	if !s.ruled.None() {
		var plain []*get
		for _, g := range group {
			if s.ruled.Find(g.name) != nil {
				ruled = append(ruled, g)
			} else {
				plain = append(plain, g)
			}
		}
		group = plain
	}
	if len(group) > 0 {
		noMore := func(*get, [][]byte) error { return nil }
		if err := getWith(ctx, c, statement.GetOne, statement.GetMany, group, noMore); err != nil {
			return err
		}
	}
	for _, g := range group {
		if g.state.hidden {
			ruled = append(ruled, g)
		}
	}
	if len(ruled) == 0 {
		return nil
	}
	return s.getRuled(ctx, c, ruled)
}

// getRuled reads entities together with the options of their tables. It reads the clock first. Otherwise an entity
// could look expired although a concurrent write has postponed its expiry.
func (s *Store) getRuled(ctx context.Context, c *pgconn.PgConn, group []*get) error {
	at := s.clock.Instant()
	err := getWith(ctx, c, statement.RuledGetOne, statement.RuledGetMany, group, func(g *get, v [][]byte) (err error) {
		if g.state.live {
			g.state.at = at
			g.state.declared, err = s.ruled.Note(g.name, edm.Ticks(statement.Number(v[6])), v[7])
		}
		return err
	})
	for _, g := range group {
		if err == nil && !g.state.live {
			s.ruled.Forget(g.name)
		}
	}
	return err
}

// getWith reads a group of entities: a single one with the statement one, and several with the statement many. It passes
// the further columns of each row to the function rest.
func getWith(ctx context.Context, c *pgconn.PgConn, one, many statement.Prepared, group []*get, rest func(g *get, v [][]byte) error) error {
	query, args := one, [][]byte{[]byte(group[0].name), group[0].key}
	if len(group) > 1 {
		names, keys := make([][]byte, len(group)), make([][]byte, len(group))
		for i, g := range group {
			names[i], keys[i] = []byte(g.name), g.key
		}
		query, args = many, [][]byte{statement.Array(statement.OIDText, names), statement.Array(statement.OIDBytes, keys)}
	}
	for _, g := range group {
		g.state = state{} // the statement one returns no row for a table that does not exist
	}
	_, err := statement.Query(ctx, c, query, func(v [][]byte) error {
		g := group[0]
		if len(group) > 1 {
			g = group[statement.Number(v[5])-1]
		}
		g.state = readState(g.key, v)
		return rest(g, v)
	}, args...)
	return err
}

// readOneState reads the state of an entity from the primary, in a group with other reads.
func (s *Store) readOneState(ctx context.Context, name string, key []byte) (state, error) {
	g := &get{name: name, key: key, done: make(chan error, 1)}
	s.await(g)
	select {
	case err := <-g.done:
		return g.state, err
	case <-ctx.Done():
		return state{}, readError(ctx, context.Cause(ctx))
	}
}

// readStatesOf reads the states of several entities of one table in one snapshot.
func (s *Store) readStatesOf(ctx context.Context, client lend.Client, name string, keys [][]byte) ([]state, error) {
	group := make([]*get, len(keys))
	for i, k := range keys {
		group[i] = &get{name: name, key: k}
	}
	err := s.read(ctx, client, func(ctx context.Context, c *pgconn.PgConn) error { return s.getAll(ctx, c, group) })
	states := make([]state, len(keys))
	for i, g := range group {
		states[i] = g.state
	}
	return states, err
}

// Get implements [table.Store].
func (s *Store) Get(ctx context.Context, name table.RecordKey, key []byte, c table.Consistency) (table.Row, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return table.Row{}, err
	}
	defer cancel()
	key, text := slices.Clone(key), strings.Clone(name.String())
	var now state
	if c == table.Eventual && s.replica != nil {
		one := get{name: text, key: key}
		err = s.eventual(ctx, c, lend.Client{Use: lend.Pages, Account: name.Account}, func(ctx context.Context, c *pgconn.PgConn) error { return s.getAll(ctx, c, []*get{&one}) })
		now = one.state
	} else {
		now, err = s.readOneState(ctx, text, key)
	}
	switch {
	case err != nil:
		return table.Row{}, err
	case !now.live:
		return table.Row{}, table.ErrNoTable
	case now.row == nil || now.isExpired():
		return table.Row{}, table.ErrNoEntity
	}
	return *now.row, nil
}
