package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"edgetable/adapters/store/postgres"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/storetest"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// wire makes connections that a test can delay and break.
type wire struct {
	oneOf atomic.Int64 // a write breaks the connection with probability 1/oneOf, before or after the bytes are sent; 0 means never
	delay atomic.Int64 // delay before each write in nanoseconds

	mu    sync.Mutex
	rnd   *rand.Rand
	conns []*faulty
	dials atomic.Int64
	cuts  atomic.Int64
}

func (w *wire) dial(ctx context.Context, network, address string) (net.Conn, error) {
	w.dials.Add(1)
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	f := &faulty{Conn: c, wire: w}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns = append(w.conns, f)
	return f, nil
}

func (w *wire) draw(n int64) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.rnd == nil {
		w.rnd = rand.New(rand.NewPCG(1, 1))
	}
	return w.rnd.Int64N(n)
}

// cut closes all connections.
func (w *wire) cut() {
	w.cuts.Add(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		c.Close()
	}
	w.conns = nil
}

// silence makes all existing connections discard the data that they receive. New connections work.
func (w *wire) silence() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		c.silent.Store(true)
	}
	w.conns = nil
}

type faulty struct {
	net.Conn
	wire   *wire
	silent atomic.Bool
}

var errCut = errors.New("the wire was cut")

func (f *faulty) Write(p []byte) (int, error) {
	if d := f.wire.delay.Load(); d > 0 {
		time.Sleep(time.Duration(d))
	}
	n := f.wire.oneOf.Load()
	if n == 0 || f.wire.draw(n) > 0 {
		return f.Conn.Write(p)
	}
	if f.wire.draw(2) == 0 { // the request is sent, and its reply is lost
		n, err := f.Conn.Write(p)
		f.Conn.Close()
		return n, err
	}
	f.Conn.Close()
	return 0, errCut
}

func (f *faulty) Read(p []byte) (int, error) {
	for {
		n, err := f.Conn.Read(p)
		if err != nil || !f.silent.Load() {
			return n, err
		}
	}
}

// TestLossy breaks connections before or after a request was sent. Histories must be
// linearizable, and the store must find out the outcomes of almost all writes.
func TestLossy(t *testing.T) {
	w := new(wire)
	inner := harness(shared, postgres.Options{Dial: w.dial}, false)
	storetest.Concurrency(t, func(t testing.TB, now func() edm.Ticks) storetest.Fixture {
		w.oneOf.Store(0)
		p := inner(t, now)
		share := p.Share
		p.Share = func(now func() edm.Ticks) table.Store {
			s := share(now)
			w.oneOf.Store(30)
			return s
		}
		t.Cleanup(func() {
			w.oneOf.Store(0)
			m := p.Store.(*postgres.Store).Metrics()
			t.Logf("%d writes in %d groups, %v, %d unknown, %d dials", m.Writes, m.WriteGroups, m.Retries, m.Unknown, w.dials.Load())
		})
		return p
	})
}

var people = table.RecordKey{Account: "acct", Table: "people"}

func create(t testing.TB, s table.Store) {
	t.Helper()
	_, err := s.WriteRecord(t.Context(), table.Record{Key: people, Incarnation: table.Incarnation{1}})
	must.OK(t, err)
}

func row(partition, name string) []byte { return key.Append(nil, partition, name) }

func text(s string) edm.Properties { return edm.AppendProperty(nil, "Text", edm.String(s)) }

func putOne(ctx context.Context, s table.Store, name string) error {
	_, err := s.Commit(ctx, people, []table.Mutation{{Key: row("p", name), Nonce: 1, Properties: text(name)}})
	return err
}

// TestCutWires breaks all connections again and again, while writes wait for their replies. Each write must take effect at
// most once. The store must find out almost all outcomes.
func TestCutWires(t *testing.T) {
	w := new(wire)
	s := open(t, shared, postgres.Options{Schema: newSchema(t, shared), Dial: w.dial})
	create(t, s)
	var all sync.WaitGroup
	var finished, unknown atomic.Int64
	for id := range 8 {
		all.Go(func() {
			for i := range 40 {
				k := row("p", string(rune('a'+id))+string(rune('A'+i)))
				_, err := s.Commit(t.Context(), people, []table.Mutation{{Key: k, Condition: table.Absent, Nonce: 1, Properties: text("once")}})
				switch {
				case errors.Is(err, table.ErrUnknown):
					unknown.Add(1)
				case err != nil:
					t.Errorf("insert %d of %d: %v", i, id, err)
				}
				// The test breaks connections after a number of writes and not after a time, so that a busy machine sees as many breaks as
				// an idle one.
				if finished.Add(1)%4 == 0 {
					w.cut()
				}
			}
		})
	}
	all.Wait()
	m := s.Metrics()
	t.Logf("%v, %d unknown, %d dials", m.Retries, m.Unknown, w.dials.Load())
	if m.Retries["lost"]+m.Retries["again"] == 0 {
		t.Error("no connection broke while it was used")
	}
	page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{{}}})
	if n := len(page.Rows); err != nil || n > 8*40 || n < 8*40-int(unknown.Load()) {
		t.Errorf("%d entities, %v; want %d, of which %d may be missing", n, err, 8*40, unknown.Load())
	}
	if unknown.Load() > w.cuts.Load() {
		t.Errorf("%d outcomes are unknown after %d cuts, each of which met up to 8 writes", unknown.Load(), w.cuts.Load())
	}
}

// TestSilentWire checks connections that stay open but deliver nothing. The store must repeat a read over another connection.
// For a write, the store must ask the primary, which reports that it is not working on the write.
func TestSilentWire(t *testing.T) {
	t.Parallel()
	w := new(wire)
	s := open(t, shared, postgres.Options{Schema: newSchema(t, shared), Dial: w.dial, Timeout: 12 * time.Second}.Watch(200*time.Millisecond))
	create(t, s)
	must.OK(t, putOne(t.Context(), s, "before"))
	w.silence()
	if err := putOne(t.Context(), s, "after"); err != nil {
		t.Errorf("a write: %v", err)
	}
	w.silence()
	if _, err := s.Get(t.Context(), people, row("p", "after"), table.Strong); err != nil {
		t.Errorf("a read: %v", err)
	}
}

// hearing is a connection that passes each message of the store to the function hear.
type hearing struct {
	net.Conn
	hear func(p []byte)
}

func (h hearing) Write(p []byte) (int, error) {
	h.hear(p)
	return h.Conn.Write(p)
}

// TestSilentPurge checks a purge that gets no reply. Batches, and queries for the outcomes of lost writes, may need the same
// connection. When the primary executes no statement of this connection any more, the purge must close the connection.
func TestSilentPurge(t *testing.T) {
	t.Parallel()
	w, sent := new(wire), make(chan struct{})
	silence := sync.OnceFunc(func() { w.silence(); close(sent) })
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := w.dial(ctx, network, address)
		return hearing{c, func(p []byte) {
			if p[0] == 'B' && bytes.Contains(p, []byte("forget_drops\x00")) {
				silence()
			}
		}}, err
	}
	s := open(t, shared, postgres.Options{Schema: newSchema(t, shared), Dial: dial, Timeout: 12 * time.Second, PurgeEvery: -1}.Watch(200*time.Millisecond))
	create(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	purged := make(chan error, 1)
	go func() { purged <- s.Purge(ctx) }()
	must.Receive(t, "the purge is sent", sent, new(strings.Builder))
	batch := []table.Mutation{{Key: row("p", "a"), Nonce: 1, Properties: text("a")}, {Key: row("p", "b"), Nonce: 1, Properties: text("b")}}
	if _, err := s.Commit(t.Context(), people, batch); err != nil {
		t.Fatalf("a batch: %v", err)
	}
	must.OK(t, <-purged)
}

// TestSlowWire checks that slow connections do not change the results of operations.
func TestSlowWire(t *testing.T) {
	t.Parallel()
	w := new(wire)
	inner := harness(shared, postgres.Options{Dial: w.dial}, false)
	w.delay.Store(int64(3 * time.Millisecond))
	storetest.Entities(t, func(t testing.TB, now func() edm.Ticks) storetest.Fixture {
		p := inner(t, now)
		p.Lossy = false
		return p
	})
}
