package transfer_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/core/table"
)

// anyValue returns a random value of a random type, often an extreme one.
func anyValue(rnd *rand.Rand) edm.Value {
	texts := []string{"", " ", "a,b;c", "\"", "\r\n", "\n", "é😀\u2028", "=1+1", "'", "007", "true", "\ufeff", "\x01", "half \xed\xa0\xbd", "\t@", strings.Repeat("z", 300)}
	switch rnd.IntN(8) {
	case 0:
		return edm.String(texts[rnd.IntN(len(texts))])
	case 1:
		return edm.Binary([]byte(texts[rnd.IntN(len(texts))]))
	case 2:
		return edm.Boolean(rnd.IntN(2) == 0)
	case 3:
		return edm.DateTime([]edm.Ticks{edm.MinDateTime, edm.MaxDateTime, edm.MinDateTime + edm.Ticks(rnd.Int64N(int64(edm.MaxDateTime-edm.MinDateTime)))}[rnd.IntN(3)])
	case 4:
		return edm.Double([]float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 5, math.MaxFloat64, 5e-324, rnd.NormFloat64(), 0.1}[rnd.IntN(10)])
	case 5:
		return edm.Guid([16]byte{byte(rnd.Uint32()), 15: byte(rnd.Uint32())})
	case 6:
		return edm.Int32([]int32{math.MinInt32, math.MaxInt32, 0, int32(rnd.Uint32())}[rnd.IntN(4)])
	}
	return edm.Int64([]int64{math.MinInt64, math.MaxInt64, 0, 1 << 53, int64(rnd.Uint64())}[rnd.IntN(5)])
}

// anyEntities returns about n random entities in no particular order. It returns their keys, and
// their JSON with one entity on each line.
func anyEntities(rnd *rand.Rand, n int) (list []keys, lines []string) {
	partitions := []string{"", "it's", "''", "é", "😀", "\uffee", "a b", "100%", "p+q", "&=", ",", ";\"", "=1", "01"}
	seen := map[keys]bool{}
	for i := range n {
		k := keys{partitions[rnd.IntN(len(partitions))], partitions[rnd.IntN(len(partitions))] + fmt.Sprint(rnd.IntN(n))}
		if seen[k] {
			continue
		}
		seen[k] = true
		var p edm.Properties
		count := rnd.IntN(6)
		switch i {
		case 1:
			count = table.MaxProperties
		case 2, 3: // entities of almost 1 MiB, the maximum size
			count = 0
			for j := range 15 {
				p = edm.AppendProperty(p, fmt.Sprint("Big", j), edm.String(strings.Repeat("é", 32_000)))
			}
		}
		for j := range count {
			p = edm.AppendProperty(p, fmt.Sprintf("P%d", rnd.IntN(3)*1000+j), anyValue(rnd))
		}
		list = append(list, k)
		lines = append(lines, string(payload.AppendJSON(nil, k.partition, k.row, 0, p)))
	}
	return list, lines
}
