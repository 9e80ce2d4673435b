package homes

import (
	"fmt"
	"math"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/core/table"
)

// values has values of all types, including extreme and unusual ones.
var values = []edm.Value{
	edm.String(""), edm.String(" "), edm.String("a,b;c\r\n\"d\""), edm.String("é😀\u2028"), edm.String("\ufeff007"), edm.String("\x01"), edm.String(strings.Repeat("😀", 16_000)),
	edm.Binary(nil), edm.Binary([]byte{0}), edm.Binary(bytesUpTo(255)),
	edm.Boolean(false), edm.Boolean(true),
	edm.DateTime(edm.MinDateTime), edm.DateTime(edm.MinDateTime + 1), edm.DateTime(edm.MaxDateTime), edm.DateTime(edm.MaxDateTime - 12_345_678_901_234_567),
	edm.Double(math.NaN()), edm.Double(math.Inf(1)), edm.Double(math.Inf(-1)), edm.Double(math.Copysign(0, -1)), edm.Double(0), edm.Double(5),
	edm.Double(math.MaxFloat64), edm.Double(-math.MaxFloat64), edm.Double(5e-324), edm.Double(0.1), edm.Double(1e21), edm.Double(1 << 53),
	edm.Guid([16]byte{}), edm.Guid([16]byte{0: 255, 7: 1, 15: 255}),
	edm.Int32(math.MinInt32), edm.Int32(math.MaxInt32), edm.Int32(0),
	edm.Int64(math.MinInt64), edm.Int64(math.MaxInt64), edm.Int64(0), edm.Int64(1<<53 + 1),
}

func bytesUpTo(last int) (b []byte) {
	for i := range last + 1 {
		b = append(b, byte(i))
	}
	return b
}

// oddKeys are keys that need care in URLs, in filters and in files.
var oddKeys = []string{"", " ", "a", "it's", "''", "é", "😀", "👩‍👩‍👧", "\uffee", "a b", "100%", "p+q", "&=", ",", ";\"", "=1", "01", "(x)", "~", "%41"}

// entities returns the entities of the test's table, as lines of an export without Timestamps.
func entities() (lines []string) {
	add := func(pk, rk string, p edm.Properties) {
		lines = append(lines, string(payload.AppendJSON(nil, pk, rk, 0, p)))
	}
	for i, v := range values {
		add("types", fmt.Sprintf("%02d %v", i, v.Type()), edm.AppendProperty(nil, "Value", v))
	}
	var all edm.Properties
	for i := range table.MaxProperties {
		all = edm.AppendProperty(all, fmt.Sprintf("P%03d", i), values[i%len(values)%6+7])
	}
	add("255 columns", "", all)
	add("1 MiB", "😀", large("1 MiB", "😀"))
	for i, pk := range oddKeys {
		for j, rk := range oddKeys {
			if j%2 == i%2 {
				add("k"+pk, rk, edm.AppendProperty(nil, "N", edm.Int32(int32(i*j))))
			}
		}
	}
	add("", "", nil)
	for i := range 250 {
		add("many", fmt.Sprintf("%04d", i), edm.AppendProperty(edm.AppendProperty(nil, "Text", edm.String(fmt.Sprint("é ", i))), "Seq", edm.Int64(int64(i))))
	}
	return lines
}

// large returns the properties of an entity of exactly 1 MiB.
func large(pk, rk string) (p edm.Properties) {
	for i := 0; ; i++ {
		name := fmt.Sprintf("Text%02d", i)
		whole := edm.AppendProperty(p, name, edm.String(strings.Repeat("é", 32<<10)))
		rest := table.MaxEntitySize - table.EntitySize(pk, rk, whole)
		switch {
		case rest > 0:
			p = whole
		default:
			return edm.AppendProperty(p, name, edm.String(strings.Repeat("é", 32<<10+rest/2)))
		}
	}
}
