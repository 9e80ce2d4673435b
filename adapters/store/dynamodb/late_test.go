package dynamodb_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// TestLateChunks checks a delayed request that writes chunks. It arrives after its write
// has finished and has removed these chunks. Purge must then remove the chunks again.
func TestLateChunks(t *testing.T) {
	t.Parallel()
	insert := upsert("r", large(900_000))
	insert.Condition = table.Absent
	for _, row := range []struct {
		why  string
		lost int
		m    table.Mutation
		want error
	}{
		{"put again, and the entity refused", 1, insert, table.ErrExists},
		{"never put", 13, insert, table.ErrBusy},
		{"put again, and the entity replaced since", 1, upsert("r", large(900_000)), nil},
	} {
		w := &world{T: t, name: newTable(t)}
		way := &overdue{from: 2, lost: row.lost} // the first batch contains the note for Purge, the second batch contains the chunks
		s := open(t, dynamodb.Options{Table: w.name, Client: newClient(way), Sleep: new(elapsed).sleep})
		create(t, s)
		w.expect("a small one", w.put(s, "r", "x"), nil)
		_, err := s.Commit(t.Context(), people, []table.Mutation{row.m})
		w.expect(row.why, err, row.want)
		w.expect("a small one again", w.put(s, "r", "x"), nil)
		way.arrive(t)
		later := open(t, dynamodb.Options{Table: w.name, Now: func() edm.Ticks { return now() + 2*3600*edm.TicksPerSecond }})
		w.expect("purge", later.Purge(t.Context(), nil), nil)
		if got := w.items(); got != 2 {
			t.Errorf("%s: %d items, want the record and the entity", row.why, got)
		}
	}
}

// overdue is an HTTP client that loses some BatchWriteItem requests. It keeps the first
// lost request. The method arrive sends the kept request to the server later.
type overdue struct {
	from, lost, batches int
	late                *http.Request
}

func (o *overdue) Do(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".BatchWriteItem") {
		if o.batches++; o.batches >= o.from && o.batches < o.from+o.lost {
			if o.late == nil {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					return nil, err
				}
				o.late = r.Clone(r.Context())
				o.late.Body = io.NopCloser(bytes.NewReader(body))
			}
			return nil, errLost
		}
	}
	return connections.Do(r)
}

func (o *overdue) arrive(t *testing.T) {
	t.Helper()
	answer, err := connections.Do(o.late.WithContext(t.Context()))
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer, err)
	}
	answer.Body.Close()
}
