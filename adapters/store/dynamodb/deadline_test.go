package dynamodb_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/table"
)

// TestBusy checks that the store retries with growing pauses while DynamoDB throttles or
// reports conflicts. In the end, the store must return ErrBusy and must have written
// nothing.
func TestBusy(t *testing.T) {
	t.Parallel()
	for _, how := range []how{throttled, conflicting} {
		var mu sync.Mutex // guards waits, because a Scan reads several buckets at the same time
		var waits []time.Duration
		s, w := overWire(t, dynamodb.Options{
			Rand: func() uint64 { return 1<<62 + 12_345_678_901 },
			Sleep: func(ctx context.Context, d time.Duration) error {
				mu.Lock()
				defer mu.Unlock()
				waits = append(waits, d)
				return ctx.Err()
			},
		})
		for what, m := range map[string][]table.Mutation{
			"one":   {upsert("a", nil)},
			"merge": {{Key: upsert("a", nil).Key, Kind: table.Merge}},
			"batch": {upsert("a", nil), upsert("b", nil)},
		} {
			waits = nil
			w.always = func(operation string) (f fault) {
				if operation != "GetItem" {
					f.how = how
				}
				return f
			}
			_, err := s.Commit(t.Context(), people, m)
			if !errors.Is(err, table.ErrBusy) {
				t.Errorf("%s, %s: got %v, want %v", what, how, err, table.ErrBusy)
			}
			if n := len(waits); n < 5 || waits[n-1] > time.Second {
				t.Errorf("%s, %s: it waited %v", what, how, waits)
			}
			// If the deadline is near, the store returns at once and does not pause.
			waits = nil
			if _, err := s.Commit(near{t.Context()}, people, m); !errors.Is(err, table.ErrBusy) {
				t.Errorf("%s, %s, near the deadline: got %v", what, how, err)
			}
			w.always = nil
			if err := get(t, s, "a"); !errors.Is(err, table.ErrNoEntity) {
				t.Errorf("%s, %s: there is something: %v", what, how, err)
			}
		}
		w.always = func(string) fault { return fault{how: throttled} }
		if err := get(t, s, "a"); !errors.Is(err, table.ErrBusy) {
			t.Errorf("Get: got %v", err)
		}
		if _, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: everything}); !errors.Is(err, table.ErrBusy) {
			t.Errorf("Scan: got %v", err)
		}
	}
}

type near struct{ context.Context }

func (near) Deadline() (time.Time, bool) { return time.Now().Add(time.Second), true }

// silent is an HTTP client whose server never answers: each attempt ends with its
// timeout.
type silent struct{}

func (silent) Do(*http.Request) (*http.Response, error) { return nil, context.DeadlineExceeded }

// TestNoAnswer checks operations on a server that does not answer. The outcome of a write
// must be unknown, and a read must fail. A write that was never sent must have no effect.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	name := newTable(t)
	create(t, open(t, dynamodb.Options{Table: name}))
	way, e := &switching{HTTPClient: connections}, new(elapsed)
	s := open(t, dynamodb.Options{Table: name, Client: newClient(way), Lease: time.Hour, Deadline: 20 * time.Second, Elapsed: e.now, Sleep: func(ctx context.Context, d time.Duration) error {
		e.time.Add(int64(d))
		return ctx.Err()
	}})
	if err := get(t, s, "r"); !errors.Is(err, table.ErrNoEntity) { // makes the process cache the table's record under a lease
		t.Fatal(err)
	}
	way.HTTPClient = silent{}
	for what, m := range map[string][]table.Mutation{
		"one":   {upsert("a", nil)},
		"batch": {upsert("a", nil), upsert("b", nil)},
	} {
		if _, err := s.Commit(t.Context(), people, m); !errors.Is(err, table.ErrUnknown) {
			t.Errorf("%s: got %v, want %v", what, err, table.ErrUnknown)
		}
	}
	if _, err := s.Get(t.Context(), people, upsert("r", nil).Key, table.Strong); err == nil || errors.Is(err, table.ErrNoEntity) {
		t.Errorf("Get: got %v", err)
	}
	d := table.Record{Key: table.RecordKey{Account: "acct", Table: "new"}}
	if _, err := s.WriteRecord(t.Context(), d); !errors.Is(err, table.ErrUnknown) {
		t.Errorf("WriteRecord: got %v, want %v", err, table.ErrUnknown)
	}

	errNone := errors.New("no credentials")
	client := sdk.New(newClient(nil).Options(), func(o *sdk.Options) {
		o.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return aws.Credentials{}, errNone })
	})
	s = open(t, dynamodb.Options{Table: name, Client: client})
	if _, err := s.WriteRecord(t.Context(), d); !errors.Is(err, errNone) || errors.Is(err, table.ErrUnknown) {
		t.Errorf("without credentials: got %v", err)
	}
}

type switching struct{ sdk.HTTPClient }

// deaf is an HTTP client whose server never answers: each attempt ends with its context.
type deaf struct{}

func (deaf) Do(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestDeadline checks that the deadline ends each operation on a server that does not
// answer. Without a deadline, the attempts of an operation take more than a minute.
func TestDeadline(t *testing.T) {
	t.Parallel()
	k := upsert("r", nil).Key
	for what, do := range map[string]func(context.Context, *dynamodb.Store) error{
		"ReadRecord": func(ctx context.Context, s *dynamodb.Store) (err error) {
			_, err = s.ReadRecord(ctx, people, table.Strong)
			return err
		},
		"WriteRecord": func(ctx context.Context, s *dynamodb.Store) (err error) {
			_, err = s.WriteRecord(ctx, table.Record{Key: people})
			return err
		},
		"ListRecords": func(ctx context.Context, s *dynamodb.Store) (err error) {
			_, err = s.ListRecords(ctx, people.Account, "", 10, table.Strong)
			return err
		},
		"Drop": func(ctx context.Context, s *dynamodb.Store) error { return s.Drop(ctx, people, "1") },
		"Get": func(ctx context.Context, s *dynamodb.Store) (err error) {
			_, err = s.Get(ctx, people, k, table.Strong)
			return err
		},
		"Scan": func(ctx context.Context, s *dynamodb.Store) (err error) {
			_, err = s.Scan(ctx, people, table.ScanRequest{Ranges: everything})
			return err
		},
		"Commit": func(ctx context.Context, s *dynamodb.Store) (err error) {
			_, err = s.Commit(ctx, people, []table.Mutation{upsert("r", nil)})
			return err
		},
		"Beat": func(ctx context.Context, s *dynamodb.Store) error { return s.Beat(ctx, "eu-west-1") },
		"ReadUpkeep": func(ctx context.Context, s *dynamodb.Store) (err error) {
			_, _, err = s.ReadUpkeep(ctx, people)
			return err
		},
		"SetUpkeep": func(ctx context.Context, s *dynamodb.Store) (err error) {
			_, err = s.SetUpkeep(ctx, people, 0, 1, nil)
			return err
		},
		"Declared": func(ctx context.Context, s *dynamodb.Store) (err error) {
			_, err = s.Declared(ctx)
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const deadline, attempt = 20 * time.Second, 30 * time.Second
				s := open(t, dynamodb.Options{Table: "any", Client: newClient(deaf{}), Deadline: deadline, Attempt: attempt})
				began := time.Now()
				if err := do(t.Context(), s); err == nil || time.Since(began) > deadline {
					t.Errorf("after %v: %v", time.Since(began), err)
				}
			})
		})
	}
}

// TestCutReply checks replies whose body is lost after the status. If the status says
// that the write was refused, the write had no effect and must be sent again. If the
// status is a success, the outcome must be unknown.
func TestCutReply(t *testing.T) {
	t.Parallel()
	s, w := overWire(t, dynamodb.Options{})
	insert := upsert("a", nil)
	insert.Condition = table.Absent
	other := insert
	other.Key = upsert("b", nil).Key
	for _, row := range []struct {
		operation string
		m         []table.Mutation
	}{
		{"PutItem", []table.Mutation{insert}},
		{"TransactWriteItems", []table.Mutation{other, insert}},
	} {
		w.fail(row.operation, fault{how: cut})
		_, err := s.Commit(t.Context(), people, row.m)
		if want := table.ErrUnknown; row.operation == "PutItem" && !errors.Is(err, want) {
			t.Errorf("%s was accepted: got %v, want %v", row.operation, err, want)
		}
		w.fail(row.operation, fault{how: cut})
		if _, err := s.Commit(t.Context(), people, row.m); !errors.Is(err, table.ErrExists) {
			t.Errorf("%s was refused: got %v, want %v", row.operation, err, table.ErrExists)
		}
		w.take()
	}
}

// TestConflictBeforeRefusal checks a transaction in which one action conflicts and the
// condition of a later action fails. The store must not report the later mutation as the
// first refused one, because the earlier mutation may be refused too.
func TestConflictBeforeRefusal(t *testing.T) {
	t.Parallel()
	s, w := overWire(t, dynamodb.Options{})
	missing := func(row string) table.Mutation {
		return table.Mutation{Key: upsert(row, nil).Key, Kind: table.Delete, Condition: table.Present}
	}
	w.fail("TransactWriteItems", fault{how: mixed})
	_, err := s.Commit(t.Context(), people, []table.Mutation{missing("a"), missing("b")})
	var refused *table.Refused
	if !errors.As(err, &refused) || refused.Index != 0 {
		t.Errorf("got %v, want a refusal of mutation 0", err)
	}
}

// endless is an HTTP client whose replies have a given status and infinite length.
type endless struct {
	status int
	read   atomic.Int64
}

func (e *endless) Do(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: e.status, Header: http.Header{}, Body: io.NopCloser(e), Request: r}, nil
}

var spaces = bytes.Repeat([]byte{' '}, 32<<10)

func (e *endless) Read(b []byte) (int, error) {
	n := copy(b, spaces)
	e.read.Add(int64(n))
	return n, nil
}

// TestEndlessReply checks a reply of infinite length. The reply must not fill the memory,
// and the store must not repeat the request.
func TestEndlessReply(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 400, 500} {
		e := &endless{status: status}
		s := open(t, dynamodb.Options{Table: "any", Client: newClient(e)})
		if _, err := s.ReadRecord(t.Context(), people, table.Strong); err == nil || e.read.Load() > 160<<20 {
			t.Errorf("%d: %v after %d bytes", status, err, e.read.Load())
		}
	}
}

// kept is an HTTP client that keeps the body of the last request and passes the request
// to the server.
type kept struct{ body io.Reader }

func (k *kept) Do(r *http.Request) (*http.Response, error) {
	k.body = r.Body
	return connections.Do(r)
}

// TestRequestIsClosed checks that a read of the request body returns EOF, and no error,
// after the SDK has closed the body.
func TestRequestIsClosed(t *testing.T) {
	t.Parallel()
	way := new(kept)
	s := open(t, dynamodb.Options{Table: newTable(t), Client: newClient(way)})
	create(t, s)
	if _, err := io.Copy(io.Discard, way.body); err != nil {
		t.Error(err)
	}
}
