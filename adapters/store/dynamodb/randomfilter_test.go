package dynamodb_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
)

// meeting returns values that are hard to compare correctly: strings that UTF-8 and
// UTF-16 order differently, numbers of different types, and numbers at the limits of
// DynamoDB's numbers.
func meeting() []edm.Value {
	list := []edm.Value{
		edm.String(""), edm.String("a"), edm.String("ab"), edm.String("b"), edm.String("\uD7FF"), edm.String("\uE000"),
		edm.String("\uFFFD"), edm.String("😀"), edm.String("a😀"), edm.String("a\uE000"), edm.String("NaN"), edm.String("1"),
		edm.Binary(nil), edm.Binary([]byte{0}), edm.Binary([]byte{0xff}), edm.Binary([]byte("a")),
		edm.Boolean(true), edm.Boolean(false),
		edm.Guid([16]byte{}), edm.Guid([16]byte{0: 1}), edm.Guid([16]byte{0: 0xff, 15: 1}),
	}
	for _, i := range []int64{-1, 0, 1, 5, math.MaxInt32} {
		list = append(list, edm.Int32(int32(i)), edm.Int64(i))
	}
	for _, i := range []int64{1 << 53, 1<<53 + 1, -1<<53 - 1, math.MaxInt64, math.MinInt64} {
		list = append(list, edm.Int64(i))
	}
	for _, f := range []float64{
		0, math.Copysign(0, -1), 0.1, 0.5, 1, 5, 1e15, 1 << 53, 1<<53 + 2, 1 << 63, -1 << 63, 1e23, 9.99e125, 1e126, 1e-130, 9e-131,
		math.MaxFloat64, math.SmallestNonzeroFloat64, math.NaN(), math.Inf(1), math.Inf(-1),
	} {
		list = append(list, edm.Double(f), edm.Double(-f))
	}
	day := edm.TicksOf(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	for _, d := range []edm.Ticks{0, 1, 10, edm.TicksPerSecond / 2, edm.TicksPerSecond, -1} {
		list = append(list, edm.DateTime(day+d))
	}
	return append(list, edm.DateTime(edm.MinDateTime), edm.DateTime(edm.MaxDateTime))
}

// named contains names of properties. The store uses some of these names itself, as type
// tags or attribute names.
var named = []string{"A", "B", "C", "Int64", "Double", "DateTime", "String", "S", "c", "t", "size", "Größe"}

// randomFilter returns the text of a random filter over the properties in named.
func randomFilter(rnd *rand.Rand, values []edm.Value, depth int) string {
	if depth == 0 || rnd.IntN(4) == 0 {
		name := named[rnd.IntN(len(named))]
		typ := edm.TypeNull // a literal of any type
		switch rnd.IntN(20) {
		case 0:
			name, typ = "RowKey", edm.TypeString
		case 1:
			name, typ = "Timestamp", edm.TypeDateTime
		}
		if typ != edm.TypeDateTime && rnd.IntN(5) == 0 {
			function := []string{"startswith", "endswith", "contains"}[rnd.IntN(3)]
			part := []string{"", "a", "b", "\uE000", "😀", "aa", "N"}[rnd.IntN(7)]
			return function + "(" + name + ",'" + part + "')"
		}
		value := values[rnd.IntN(len(values))]
		for typ != edm.TypeNull && value.Type() != typ {
			value = values[rnd.IntN(len(values))]
		}
		op := []string{"eq", "eq", "ne", "lt", "le", "gt", "ge"}[rnd.IntN(7)]
		return name + " " + op + " " + odata.Literal(value)
	}
	a, b := randomFilter(rnd, values, depth-1), randomFilter(rnd, values, depth-1)
	switch rnd.IntN(5) {
	case 0:
		return "not (" + a + ")"
	case 1, 2:
		return "(" + a + ") or (" + b + ")"
	}
	return "(" + a + ") and (" + b + ")"
}

// fillRandom writes n random entities and returns them. The first entities are so large
// that they are stored in chunks; the argument chunked is the number of these entities.
func fillRandom(t *testing.T, s *dynamodb.Store, rnd *rand.Rand, n, chunked int) []table.Row {
	t.Helper()
	stored := append(meeting(), edm.String("\xff"), edm.String("a\xffb"), edm.DateTime(edm.MaxDateTime+1), edm.DateTime(edm.MinDateTime-1),
		edm.Double(math.Float64frombits(0xfff8000000000001)))
	var batch []table.Mutation
	for i := range n {
		var p edm.Properties
		for _, name := range named {
			if rnd.IntN(3) != 0 {
				p = edm.AppendProperty(p, name, stored[rnd.IntN(len(stored))])
			}
		}
		if i < chunked {
			p = append(p, large(400_000)...)
		}
		batch = append(batch, table.Mutation{Key: key.Append(nil, "p", fmt.Sprintf("%04d", i)), Properties: p})
		if len(batch) == 20 || i == n-1 {
			if _, err := s.Commit(t.Context(), people, batch); err != nil {
				t.Fatal(err)
			}
			batch = nil
		}
	}
	page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: everything})
	if err != nil || len(page.Rows) != n {
		t.Fatal(len(page.Rows), err)
	}
	return page.Rows
}
