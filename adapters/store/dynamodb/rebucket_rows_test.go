package dynamodb_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// odd returns entities with keys and values of every kind, in several partitions.
func odd() (list []table.Mutation) {
	long := strings.Repeat("k", 500)
	keys := [][2]string{
		{"", ""}, {"", "r"}, {"p", ""}, {"p", "r"}, {"p\x00", "\x00\x01"}, {"ß", "日本"}, {"\U0001f600", "\U0010ffff"},
		{"p", "a b'%/"}, {long, long}, {"p ", " r"}, {"\x7f", "\u0080"},
	}
	for i := range 25 {
		keys = append(keys, [2]string{fmt.Sprint("partition", i%23), fmt.Sprint("row", i)})
	}
	var all edm.Properties
	for i, v := range []edm.Value{
		edm.String(""), edm.String("日本\x00"), edm.String("\xff\xfe"), edm.Binary(nil), edm.Binary([]byte{0, 255}), edm.Boolean(true), edm.Boolean(false),
		edm.Int32(math.MinInt32), edm.Int64(math.MaxInt64), edm.Double(0.1), edm.Double(math.Copysign(0, -1)), edm.Double(math.NaN()),
		edm.Double(math.Inf(-1)), edm.Double(math.SmallestNonzeroFloat64), edm.Double(math.MaxFloat64), edm.DateTime(edm.MinDateTime),
		edm.DateTime(edm.MaxDateTime), edm.DateTime(1), edm.Guid([16]byte{1, 2, 3}),
	} {
		all = edm.AppendProperty(all, fmt.Sprint("V", i), v)
	}
	for i, k := range keys {
		m := table.Mutation{Key: key.Append(nil, k[0], k[1]), Properties: all, Nonce: math.MaxUint64 - uint64(i)}
		switch i % 16 {
		case 0:
			m.Properties = nil
		case 1:
			m.Properties = large(900_000)
		}
		list = append(list, m)
	}
	return list
}

// fillOdd creates the table "people" and writes the entities that the function odd
// returns. It then changes some entities and deletes others.
func fillOdd(t testing.TB, s *dynamodb.Store) {
	t.Helper()
	create(t, s)
	d, err := s.ReadRecord(t.Context(), people, table.Strong)
	if err != nil {
		t.Fatal(err)
	}
	d.Value = []byte("policies")
	if _, err := s.WriteRecord(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	for i, m := range odd() {
		commit(t, s, m)
		switch i % 7 {
		case 2:
			commit(t, s, table.Mutation{Key: m.Key, Kind: table.Merge, Properties: edm.AppendProperty(nil, "merged", edm.Int32(1)), Nonce: 7})
		case 3:
			commit(t, s, table.Mutation{Key: m.Key, Kind: table.Delete, Condition: table.Present})
		}
	}
}

func commit(t testing.TB, s table.Store, m ...table.Mutation) edm.Ticks {
	t.Helper()
	ticks, err := s.Commit(t.Context(), people, m)
	if err != nil {
		t.Fatalf("Commit: %v", err)
	}
	return ticks
}

// scanAll reads the whole table in pages of a given number of rows.
func scanAll(t testing.TB, s table.Store, rows int) []table.Row {
	t.Helper()
	return scanFrom(t, s, everything, rows)
}

func scanFrom(t testing.TB, s table.Store, ranges []key.Range, rows int) (list []table.Row) {
	t.Helper()
	for len(ranges) > 0 {
		page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: ranges, Rows: rows})
		if err != nil {
			t.Fatalf("Scan: %v", err)
		}
		if list = append(list, page.Rows...); page.Next == nil {
			break
		}
		ranges = key.From(ranges, page.Next)
	}
	return list
}

func sameRows(t testing.TB, what string, got, want []table.Row) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d entities, want %d", what, len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		g, w := &got[i], &want[i]
		if !bytes.Equal(g.Key, w.Key) || g.Timestamp != w.Timestamp || g.Nonce != w.Nonce || !bytes.Equal(g.Properties, w.Properties) {
			t.Errorf("%s: entity %d is %q @%d, want %q @%d; properties are the same: %v", what, i, g.Key, g.Timestamp, w.Key, w.Timestamp, bytes.Equal(g.Properties, w.Properties))
			return
		}
	}
}

// allItems counts the items of the DynamoDB table.
func allItems(t testing.TB, name string) (n int) {
	t.Helper()
	pages := sdk.NewScanPaginator(newClient(nil), &sdk.ScanInput{TableName: &name, Select: "COUNT"})
	for pages.HasMorePages() {
		out, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n += int(out.Count)
	}
	return n
}

func recordOf(t testing.TB, s table.Store) table.Record {
	t.Helper()
	r, err := s.ReadRecord(t.Context(), people, table.Strong)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func bucketsOf(t testing.TB, s *dynamodb.Store) uint16 {
	t.Helper()
	n, err := s.BucketsOf(t.Context(), people)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
