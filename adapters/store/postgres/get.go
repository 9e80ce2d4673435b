package postgres

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/lend"
	"edgetable/adapters/store/postgres/statement"
	"edgetable/core/edm"
	"edgetable/core/table"
)

const (
	// maxGets is the largest group of reads.
	maxGets = 128
)

// state is what the database has about an entity.
type state struct {
	live          bool // the table exists
	floor, purged edm.Ticks
	ticks         edm.Ticks // 0: there is no row
	row           *table.Row
}

// highest is what a new Timestamp must be above.
func (s *state) highest() edm.Ticks { return max(s.floor, s.ticks) }

// readState reads the five columns of getOne and getMany.
func readState(key []byte, v [][]byte) (s state) {
	if v[0] == nil {
		return s
	}
	s.live, s.floor, s.purged = true, edm.Ticks(statement.Number(v[0])), edm.Ticks(statement.Number(v[1]))
	if v[2] == nil {
		return s
	}
	s.ticks = edm.Ticks(statement.Number(v[2]))
	if v[4] != nil {
		s.row = &table.Row{Key: key, Timestamp: s.ticks, Nonce: uint64(statement.Number(v[3])), Properties: slices.Clone(edm.Properties(v[4]))}
	}
	return s
}

// get is one read that waits in a group.
type get struct {
	name  string
	key   []byte
	state state
	done  chan error
}

// gets reads entities in groups: a group has all that came while others were read.
type gets struct {
	mu      sync.Mutex
	waiting []*get
	running int
}

// await reads an entity in a group to come.
func (s *Store) await(g *get) {
	q := &s.gets
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, g)
	if q.running < lend.Readers {
		q.running++
		s.beside.Go(s.readGroups)
	}
}

func (s *Store) readGroups() {
	q := &s.gets
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

// readGroup reads a group in one statement, or one by one if that fails.
func (s *Store) readGroup(group []*get) {
	ctx, cancel := context.WithTimeoutCause(s.ctx, s.Timeout, errTimeout)
	defer cancel()
	s.counters.reads.group(len(group))
	err := s.read(ctx, lend.Client{Use: lend.Gets}, func(ctx context.Context, c *pgconn.PgConn) error { return getAll(ctx, c, group) })
	for _, g := range group {
		g.done <- err
	}
}

func getAll(ctx context.Context, c *pgconn.PgConn, group []*get) error {
	if len(group) == 1 {
		g := group[0]
		g.state = state{}
		_, err := statement.Query(ctx, c, statement.GetOne, func(v [][]byte) error {
			g.state = readState(g.key, v)
			return nil
		}, []byte(g.name), g.key)
		return err
	}
	names, keys := make([][]byte, len(group)), make([][]byte, len(group))
	for i, g := range group {
		names[i], keys[i] = []byte(g.name), g.key
	}
	_, err := statement.Query(ctx, c, statement.GetMany, func(v [][]byte) error {
		g := group[statement.Number(v[5])-1]
		g.state = readState(g.key, v)
		return nil
	}, statement.Array(statement.OIDText, names), statement.Array(statement.OIDBytes, keys))
	return err
}

// lookOne reads the state of an entity at the primary, together with what others read.
func (s *Store) lookOne(ctx context.Context, name string, key []byte) (state, error) {
	g := &get{name: name, key: key, done: make(chan error, 1)}
	s.await(g)
	select {
	case err := <-g.done:
		return g.state, err
	case <-ctx.Done():
		return state{}, readError(ctx, context.Cause(ctx))
	}
}

// lookAll reads the states of some entities of one table at one moment.
func (s *Store) lookAll(ctx context.Context, who lend.Client, name string, keys [][]byte) ([]state, error) {
	group := make([]*get, len(keys))
	for i, k := range keys {
		group[i] = &get{name: name, key: k}
	}
	err := s.read(ctx, who, func(ctx context.Context, c *pgconn.PgConn) error { return getAll(ctx, c, group) })
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
		err = s.eventual(ctx, c, lend.Client{Use: lend.Pages, Account: name.Account}, func(ctx context.Context, c *pgconn.PgConn) error { return getAll(ctx, c, []*get{&one}) })
		now = one.state
	} else {
		now, err = s.lookOne(ctx, text, key)
	}
	switch {
	case err != nil:
		return table.Row{}, err
	case !now.live:
		return table.Row{}, table.ErrNoTable
	case now.row == nil:
		return table.Row{}, table.ErrNoEntity
	}
	return *now.row, nil
}
