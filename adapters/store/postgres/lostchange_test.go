package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"edgetable/adapters/store/postgres"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// TestLostChanges breaks the connection while a table is created, changed or dropped. The
// request is not sent, or its reply is lost, or the request arrives after the connection
// broke. The store must find out the outcome. In some cases another server has meanwhile
// changed, dropped or created the record.
func TestLostChanges(t *testing.T) {
	for _, tt := range []struct {
		name, statement string
		fate            loss
		do              func(t *testing.T, s *postgres.Store, r table.Record) error
		others          func(t *testing.T, s *postgres.Store) // what another server does after the connection broke
		want            error
		value           string // value of the record at the end; empty means that there is no record
	}{
		{"create, not sent", "create_record", notSent, made, nil, nil, "made"},
		{"create, applied", "create_record", replyLost, made, nil, nil, "made"},
		{"create, applied late", "create_record", sentLate, made, nil, nil, "made"},
		{"create, not sent, another makes it", "create_record", notSent, made, makes, table.ErrRevision, "theirs"},
		{"create, applied, another changes it", "create_record", replyLost, made, changes, nil, "theirs"},
		{"create, applied, another drops it", "create_record", replyLost, made, drops, nil, ""},
		{"create, applied, another drops and makes it", "create_record", replyLost, made, dropsAndMakes, nil, "theirs"},
		{"change, not sent", "change_record", notSent, changed, nil, nil, "changed"},
		{"change, applied", "change_record", replyLost, changed, nil, nil, "changed"},
		{"change, applied late", "change_record", sentLate, changed, nil, nil, "changed"},
		{"change, not sent, another changes it", "change_record", notSent, changed, changes, table.ErrRevision, "theirs"},
		{"change, applied, another changes it", "change_record", replyLost, changed, changes, nil, "theirs"},
		{"change, applied, another changes it often", "change_record", replyLost, changed, often(64), nil, "theirs"},
		{"change, applied, another changes it too often", "change_record", replyLost, changed, often(65), table.ErrUnknown, "theirs"},
		{"change, applied, another drops it", "change_record", replyLost, changed, drops, nil, ""},
		{"change, not sent, another drops and makes it", "change_record", notSent, changed, dropsAndMakes, table.ErrRevision, "theirs"},
		{"drop, not sent", "drop_record", notSent, dropped, nil, nil, ""},
		{"drop, applied", "drop_record", replyLost, dropped, nil, nil, ""},
		{"drop, applied late", "drop_record", sentLate, dropped, nil, nil, ""},
		{"drop, not sent, another drops it", "drop_record", notSent, dropped, drops, table.ErrRevision, ""},
		{"drop, not sent, another changes it", "drop_record", notSent, dropped, changes, table.ErrRevision, "theirs"},
		{"drop, applied, another makes it", "drop_record", replyLost, dropped, makes, nil, "theirs"},
		{"create, applied, another declares a rule", "create_record", replyLost, made, declares, nil, "theirs"},
		{"change, applied, another declares a rule", "change_record", replyLost, changed, declares, nil, "theirs"},
		{"change, not sent, another declares a rule", "change_record", notSent, changed, declares, table.ErrRevision, "theirs"},
		{"drop, not sent, another declares a rule", "drop_record", notSent, dropped, declares, table.ErrRevision, "theirs"},
		{"declare, not sent", "ruled_change", notSent, declared, nil, nil, "declared"},
		{"declare, applied", "ruled_change", replyLost, declared, nil, nil, "declared"},
		{"declare, applied late", "ruled_change", sentLate, declared, nil, nil, "declared"},
		{"declare, not sent, another changes it", "ruled_change", notSent, declared, changes, table.ErrRevision, "theirs"},
		{"declare, applied, another changes it", "ruled_change", replyLost, declared, changes, nil, "theirs"},
		{"declare, applied, another withdraws it", "ruled_change", replyLost, declared, withdraws, nil, "theirs"},
		{"declare, applied, another drops it", "ruled_change", replyLost, declared, drops, nil, ""},
		{"drop with a rule, not sent", "ruled_drop", notSent, dropped, nil, nil, ""},
		{"drop with a rule, applied", "ruled_drop", replyLost, dropped, nil, nil, ""},
		{"drop with a rule, applied, another makes it", "ruled_drop", replyLost, dropped, makes, nil, "theirs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := postgres.Options{Schema: newSchema(t, shared), PurgeEvery: -1, PurgeAfter: time.Microsecond}
			w := new(breaker)
			s, neighbour := open(t, shared, func() postgres.Options { o := o; o.Dial = w.dial; return o }()), open(t, shared, o)
			r := table.Record{Key: people, Incarnation: table.Incarnation{1}, Value: []byte("before")}
			if tt.statement == "ruled_drop" {
				r.Traits = rule("E")
			}
			if tt.statement != "create_record" {
				var err error
				r.Revision, err = s.WriteRecord(t.Context(), r)
				must.OK(t, err)
			}
			b := w.arm(tt.statement, tt.fate)
			outcome := make(chan error, 1)
			go func() { outcome <- tt.do(t, s, r) }()
			b.await(t, outcome)
			if tt.others != nil {
				tt.others(t, neighbour)
				must.OK(t, neighbour.Purge(t.Context()))
			}
			close(b.lose)
			if tt.fate == sentLate {
				wait(t, "it waits for the process that has the request", func() bool {
					return ask(t, shared, "SELECT count(*) > 0 FROM pg_stat_activity WHERE application_name = $1 AND query LIKE '%backend_start)) = $2%'", s.Name()) == "true" || len(outcome) > 0
				})
				select {
				case err := <-outcome:
					t.Errorf("it does not wait: %v", err)
					outcome <- err
				default:
				}
				close(b.arrive)
			}
			if err := <-outcome; !errors.Is(err, tt.want) || tt.want == nil && err != nil {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			now, err := neighbour.ReadRecord(t.Context(), people, table.Strong)
			if string(now.Value) != tt.value || errors.Is(err, table.ErrNoRecord) != (tt.value == "") {
				t.Errorf("the record has %q, %v; want %q", now.Value, err, tt.value)
			}
			if n := s.Metrics().Unknown; n > 0 && tt.want != table.ErrUnknown {
				t.Errorf("%d outcomes are unknown", n)
			}
		})
	}
}

func made(t *testing.T, s *postgres.Store, r table.Record) error {
	r.Value = []byte("made")
	_, err := s.WriteRecord(t.Context(), r)
	return err
}

func changed(t *testing.T, s *postgres.Store, r table.Record) error {
	r.Value = []byte("changed")
	_, err := s.WriteRecord(t.Context(), r)
	return err
}

func declared(t *testing.T, s *postgres.Store, r table.Record) error {
	r.Value, r.Traits = []byte("declared"), rule("E")
	_, err := s.WriteRecord(t.Context(), r)
	return err
}

func dropped(t *testing.T, s *postgres.Store, r table.Record) error {
	return s.Drop(t.Context(), r.Key, r.Revision)
}

func makes(t *testing.T, s *postgres.Store) {
	_, err := s.WriteRecord(t.Context(), table.Record{Key: people, Incarnation: table.Incarnation{2}, Value: []byte("theirs")})
	must.OK(t, err)
}

func changes(t *testing.T, s *postgres.Store) {
	r, err := s.ReadRecord(t.Context(), people, table.Strong)
	must.OK(t, err)
	r.Value = []byte("theirs")
	_, err = s.WriteRecord(t.Context(), r)
	must.OK(t, err)
}

func declares(t *testing.T, s *postgres.Store) { declareTheirs(t, s, rule("E")) }

func withdraws(t *testing.T, s *postgres.Store) { declareTheirs(t, s, nil) }

func declareTheirs(t *testing.T, s *postgres.Store, traits *table.Traits) {
	r, err := s.ReadRecord(t.Context(), people, table.Strong)
	must.OK(t, err)
	r.Value, r.Traits = []byte("theirs"), traits
	_, err = s.WriteRecord(t.Context(), r)
	must.OK(t, err)
}

func often(times int) func(t *testing.T, s *postgres.Store) {
	return func(t *testing.T, s *postgres.Store) {
		for range times {
			changes(t, s)
		}
	}
}

func drops(t *testing.T, s *postgres.Store) {
	r, err := s.ReadRecord(t.Context(), people, table.Strong)
	must.OK(t, err)
	must.OK(t, s.Drop(t.Context(), people, r.Revision))
}

func dropsAndMakes(t *testing.T, s *postgres.Store) {
	drops(t, s)
	makes(t, s)
}

// loss says whether a request reaches the database, and when, if its connection breaks.
type loss int

const (
	notSent   loss = iota
	replyLost      // the request was applied, and the reply was lost
	sentLate       // the request arrives after the store has closed the connection
)

// breaker makes connections. When the store sends a given statement next, the connection
// breaks.
type breaker struct {
	mu   sync.Mutex
	next *breach
}

// breach describes how a connection breaks, and at which request.
type breach struct {
	statement string
	loss      loss
	sent      chan struct{} // closed when the store has sent the request
	lose      chan struct{} // closed by the test to break the connection
	arrive    chan struct{} // closed by the test to deliver a late request
}

// await waits until the store has sent the request. The test fails if the operation ends before.
func (b *breach) await(t *testing.T, outcome <-chan error) {
	t.Helper()
	select {
	case <-b.sent:
	case err := <-outcome:
		t.Fatalf("the operation ended before %s was sent: %v", b.statement, err)
	}
}

func (w *breaker) arm(statement string, how loss) *breach {
	b := &breach{statement, how, make(chan struct{}), make(chan struct{}), make(chan struct{})}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next = b
	return b
}

// take returns the breach that applies to the request p, or nil.
func (w *breaker) take(p []byte) *breach {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := w.next
	if b == nil || p[0] != 'B' || !bytes.Contains(p, []byte(b.statement+"\x00")) {
		return nil
	}
	w.next = nil
	return b
}

func (w *breaker) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	return &breaking{Conn: c, breaker: w}, err
}

type breaking struct {
	net.Conn
	breaker *breaker
	kept    atomic.Bool // the store has closed the connection, but the database does not know it yet
}

func (c *breaking) Close() error {
	if c.kept.Load() {
		return nil
	}
	return c.Conn.Close()
}

func (c *breaking) Write(p []byte) (int, error) {
	if c.kept.Load() {
		return 0, errCut
	}
	b := c.breaker.take(p)
	if b == nil {
		return c.Conn.Write(p)
	}
	c.kept.Store(b.loss == sentLate)
	if b.loss == replyLost {
		if _, err := c.Conn.Write(p); err != nil {
			return 0, err
		}
		if _, err := c.Conn.Read(make([]byte, 1)); err != nil { // wait for the beginning of the reply, when the request has been applied
			return 0, err
		}
	}
	close(b.sent)
	<-b.lose
	if b.loss != sentLate {
		return 0, errors.Join(errCut, c.Conn.Close())
	}
	request := bytes.Clone(p)
	go func() {
		<-b.arrive
		_ = c.SetDeadline(time.Time{})
		_, _ = c.Conn.Write(request) // the error is ignored: if this write fails, the record is wrong, and the test fails
		_ = c.Conn.Close()
	}()
	return 0, errCut
}
