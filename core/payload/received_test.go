package payload

import (
	"math"
	"math/rand/v2"
	"testing"

	"edgetable/core/edm"
)

// TestReceived checks that a Reader can read lists of entities and single entities as the server sends them, in both JSON
// formats with types, and the lines of exported files.
func TestReceived(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := rnd.IntN(4)
		var rows []Received
		for range n {
			rows = append(rows, Received{
				PartitionKey: anyText(rnd), RowKey: anyText(rnd),
				Timestamp: edm.MinDateTime + edm.Ticks(rnd.Int64N(int64(edm.MaxDateTime-edm.MinDateTime))), Properties: anyProperties(rnd),
			})
		}
		for _, format := range []Format{Minimal, Full} {
			v := View{Format: format, Base: "https://acct.example/", Account: "acct", Table: "people"}
			body := v.AppendFeedStart(nil)
			for i, e := range rows {
				body = v.AppendFeedEntity(body, i, e.PartitionKey, e.RowKey, e.Timestamp, e.Properties)
			}
			body = v.AppendFeedEnd(body)
			var r Reader
			if err := r.Feed(body); err != nil {
				t.Fatalf("%v\n%s", err, body)
			}
			for i := 0; ; i++ {
				e, ok, err := r.Next()
				if err != nil {
					t.Fatalf("%v\n%s", err, body)
				}
				if !ok {
					if i != n {
						t.Fatalf("%d entities of %d\n%s", i, n, body)
					}
					break
				}
				same(t, e, rows[i])
			}
			for _, e := range rows {
				got, err := r.Entity(v.AppendEntity(nil, e.PartitionKey, e.RowKey, e.Timestamp, e.Properties))
				if err != nil {
					t.Fatal(err)
				}
				same(t, got, e)
			}
		}
		for _, e := range rows {
			line := AppendJSON(nil, e.PartitionKey, e.RowKey, e.Timestamp, e.Properties)
			var r Reader
			got, err := r.Entity(line)
			if err != nil {
				t.Fatalf("%v\n%s", err, line)
			}
			same(t, got, e)
			sent, err := ReadEntity(line)
			if err != nil {
				t.Fatalf("%v\n%s", err, line)
			}
			same(t, Received{sent.PartitionKey, sent.RowKey, e.Timestamp, sent.Properties}, e)
		}
	}
}

func same(t *testing.T, got, want Received) {
	t.Helper()
	if got.PartitionKey != want.PartitionKey || got.RowKey != want.RowKey || got.Timestamp != want.Timestamp || string(got.Properties) != string(want.Properties) {
		t.Fatalf("got %+q\nwant %+q", got, want)
	}
}

func anyText(rnd *rand.Rand) string {
	letters := []rune("ab'\"\\{}[],:é😀\u2028\x01 ")
	text := make([]rune, rnd.IntN(8))
	for i := range text {
		text[i] = letters[rnd.IntN(len(letters))]
	}
	return string(text)
}

func anyProperties(rnd *rand.Rand) (p edm.Properties) {
	for i := range rnd.IntN(12) {
		var v edm.Value
		switch rnd.IntN(8) {
		case 0:
			v = edm.String(anyText(rnd))
		case 1:
			v = edm.Binary([]byte(anyText(rnd)))
		case 2:
			v = edm.Boolean(rnd.IntN(2) == 0)
		case 3:
			v = edm.DateTime(edm.MinDateTime + edm.Ticks(rnd.Int64N(int64(edm.MaxDateTime-edm.MinDateTime))))
		case 4:
			v = edm.Double([]float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 5, 1e300, 5e-324, rnd.NormFloat64()}[rnd.IntN(9)])
		case 5:
			v = edm.Guid([16]byte{byte(rnd.Uint32()), 15: byte(rnd.Uint32())})
		case 6:
			v = edm.Int32(int32(rnd.Uint32()))
		case 7:
			v = edm.Int64([]int64{math.MinInt64, math.MaxInt64, 0, rnd.Int64()}[rnd.IntN(4)])
		}
		p = edm.AppendProperty(p, string(rune('A'+i)), v)
	}
	return p
}

// TestReceivedDamaged checks that a truncated response, or a response that is not a feed, gives an error.
func TestReceivedDamaged(t *testing.T) {
	t.Parallel()
	whole := `{"odata.metadata":"m","value":[{"PartitionKey":"p","RowKey":"r","N@odata.type":"Edm.Int64","N":"1"},{"PartitionKey":"p","RowKey":"s"}]}`
	read := func(body string) error {
		var r Reader
		if err := r.Feed([]byte(body)); err != nil {
			return err
		}
		for {
			if _, ok, err := r.Next(); err != nil || !ok {
				return err
			}
		}
	}
	if err := read(whole); err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) - 1 {
		if read(whole[:n]) == nil {
			t.Errorf("no error at %d of: %s", n, whole)
		}
	}
	for _, body := range []string{`{"value":{}}`, `{"value":[1]}`, `{"value":[{} {}]}`, `{"value":[{},]}`, `[]`, `{"a":[]}`, `{"value":[{"Timestamp":"now"}]}`} {
		if read(body) == nil {
			t.Errorf("no error: %s", body)
		}
	}
}
