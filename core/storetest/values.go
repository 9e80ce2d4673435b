package storetest

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// extremes returns properties with values that a database might change by converting them to its own types.
func extremes() edm.Properties {
	var p edm.Properties
	for i, v := range []edm.Value{
		edm.String(""), edm.String("\x00\u0001\ufffd\U0001F600\u2028"), edm.String("true"), edm.String("1E5"),
		edm.Binary(nil), edm.Binary([]byte{0, 255, 0}),
		edm.Boolean(true), edm.Boolean(false),
		edm.DateTime(edm.MinDateTime), edm.DateTime(edm.MaxDateTime), edm.DateTime(edm.MinDateTime + 1),
		edm.Double(0), edm.Double(math.Copysign(0, -1)), edm.Double(math.NaN()), edm.Double(math.Inf(-1)),
		edm.Double(math.MaxFloat64), edm.Double(math.SmallestNonzeroFloat64), edm.Double(1e126), edm.Double(5),
		edm.Guid([16]byte{}), edm.Guid([16]byte{15: 255}),
		edm.Int32(math.MinInt32), edm.Int32(-1), edm.Int32(math.MaxInt32),
		edm.Int64(math.MinInt64), edm.Int64(0), edm.Int64(math.MaxInt64),
	} {
		p = edm.AppendProperty(p, fmt.Sprintf("P%02d", i), v)
	}
	return p
}

// manyProperties returns n small properties.
func manyProperties(n int) (p edm.Properties) {
	for i := range n {
		p = edm.AppendProperty(p, fmt.Sprintf("_%d", i), edm.Int32(int32(i)))
	}
	return p
}

// heavy returns n Binary properties of 64,000 bytes.
func heavy(n int) (p edm.Properties) {
	for i := range n {
		p = edm.AppendProperty(p, fmt.Sprintf("Heavy%d", i), edm.Binary(bytes.Repeat([]byte{byte(i)}, 64_000)))
	}
	return p
}

// valuesKept checks that Get returns entities exactly as written: values of every type, names that differ only in case,
// and entities of the maximum size.
func valuesKept(e *env) {
	name := e.create("values")
	for what, p := range map[string]edm.Properties{
		"no properties": nil,
		"extremes":      extremes(),
		"names": edm.AppendProperty(edm.AppendProperty(edm.AppendProperty(nil,
			"A", edm.Int32(1)), "a", edm.Int32(2)), strings.Repeat("Ä", table.MaxPropertyName), edm.Int32(3)),
		"252 properties": manyProperties(table.MaxProperties),
		"nearly 1 MiB":   heavy(16),
	} {
		m := table.Mutation{Key: at("values", what), Properties: p, Nonce: math.MaxUint64}
		e.expect(what, name, m.Key, showWritten(m, e.mustCommit(name, m)))
		m.Kind, m.Nonce = table.Merge, 1
		e.expect(what+", merged over themselves", name, m.Key, showWritten(m, e.mustCommit(name, m)))
	}
	// Alternate between a small and a large entity, because a store may keep large entities in another form.
	for _, n := range []int{16, 0, 7, 16, 1} {
		m := table.Mutation{Key: at("values", "changing"), Properties: heavy(n), Nonce: uint64(n)}
		e.expect(fmt.Sprintf("%d × 64,000 bytes", n), name, m.Key, showWritten(m, e.mustCommit(name, m)))
	}
	// A store must either store entities with keys of these lengths, or refuse them with ErrKeyTooLong and without
	// effect.
	for _, n := range []int{200, 500, 512, 1000, 1024} {
		for _, char := range []string{"k", "\uffe0"} {
			m := put(strings.Repeat(char, n), strings.Repeat(char, n), "long")
			ticks, err := e.commit(name, m)
			row, getErr := e.get(name, m.Key)
			switch reason(err) {
			case "ok":
				if got, want := shown(row, getErr), showWritten(m, ticks); got != want {
					e.Errorf("keys of %d characters:\n got %s\nwant %s", n, got, want)
				}
			case reason(&table.Refused{Err: table.ErrKeyTooLong}):
				if s := reason(getErr); s != reason(table.ErrKeyTooLong) && s != reason(table.ErrNoEntity) {
					e.Errorf("keys of %d characters, refused: Get got %s", n, shown(row, getErr))
				}
			default:
				e.Errorf("keys of %d characters: Commit got %s, want ok or %s", n, reason(err), reason(&table.Refused{Err: table.ErrKeyTooLong}))
			}
		}
	}
}

// limitsOfMerge checks that a merge is refused if its result would exceed the limits of an entity, even if the store
// has a fast path for merges.
func limitsOfMerge(e *env) {
	name := e.create("limits")
	full := table.Mutation{Key: at("p", "full"), Properties: manyProperties(table.MaxProperties), Nonce: 1}
	weighty := table.Mutation{Key: at("p", "heavy"), Properties: heavy(16), Nonce: 1}
	want := map[string]string{
		"full":  showWritten(full, e.mustCommit(name, full)),
		"heavy": showWritten(weighty, e.mustCommit(name, weighty)),
	}
	seventeen := edm.AppendProperty(nil, "Other", edm.Binary(make([]byte, 64_000)))
	for _, row := range []struct {
		row   string
		patch edm.Properties
		want  table.Code
	}{
		{"full", text("one more"), table.TooManyProperties},
		{"heavy", seventeen, table.EntityTooLarge},
	} {
		m := table.Mutation{Key: at("p", row.row), Kind: table.Merge, Properties: row.patch, Nonce: 2}
		_, err := e.commit(name, m)
		if got, want := reason(err), refusedText(0, row.want.Err()); got != want {
			e.Errorf("merge into %s: got %s, want %s", row.row, got, want)
		}
		e.expect("after a refused merge", name, m.Key, want[row.row])
	}
	// A merge may replace properties of an entity that already has 252 properties.
	m := table.Mutation{Key: full.Key, Kind: table.Merge, Properties: manyProperties(100), Nonce: 3}
	full.Nonce = 3
	e.expect("a merge of what is there", name, full.Key, showWritten(full, e.mustCommit(name, m)))
}
