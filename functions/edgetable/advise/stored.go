package advise

import (
	"fmt"
	"math/bits"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Stored describes the entities of a table or a range. Goroutines may describe separate ranges, which [Join] combines.
type Stored struct {
	Rows       int64 `json:"rows"`
	Bytes      int64 `json:"bytes"` // total size of the entities by Azure's formula
	Partitions int64 `json:"partitions"`
	// Sizes counts the partitions by their number of rows. The classes are 1, 2 to 3, 4 to 7, and so on.
	Sizes [40]int64 `json:"sizes"`

	LargestRows  int64  `json:"largestRows"`
	LargestBytes int64  `json:"largestBytes"`
	Largest      string `json:"largest"`
	WidestBytes  int    `json:"widestBytes"`
	Widest       string `json:"widest"`
	// NearLimit is the number of entities that Azure may reject because of their size.
	NearLimit        int64  `json:"nearLimit"`
	NearLimitExample string `json:"nearLimitExample"`
	// Misordered counts adjacent keys that end with numbers in text order but not in numeric order, such as 10 before
	// 9.
	Misordered        int64  `json:"misordered"`
	MisorderedExample string `json:"misorderedExample"`
	numbers           int64  // number of adjacent keys that end with numbers

	edges    []partition // first and last partition, which may continue in adjacent ranges
	last     [2]string   // keys of the last entity
	anything bool
}

type partition struct {
	key         string
	rows, bytes int64
}

// Add adds the next entity in key order.
func (s *Stored) Add(pk, rk string, p edm.Properties) {
	size := table.EntitySize(pk, rk, p)
	s.Rows++
	s.Bytes += int64(size)
	if size > s.WidestBytes {
		s.WidestBytes, s.Widest = size, strings.Clone(pk)+" / "+strings.Clone(rk)
	}
	if table.NearLimit(pk, rk, p) {
		if s.NearLimit++; s.NearLimit == 1 {
			s.NearLimitExample = strings.Clone(pk) + " / " + strings.Clone(rk)
		}
	}
	if s.anything {
		s.compare(pk, rk)
	}
	s.anything = true
	s.last[1] = strings.Clone(rk)
	n := len(s.edges)
	if n == 0 || s.edges[n-1].key != pk {
		s.last[0] = strings.Clone(pk)
		if n == 2 {
			s.close(s.edges[1])
			s.edges = s.edges[:1]
		}
		s.edges = append(s.edges, partition{key: s.last[0]})
		n = len(s.edges)
	}
	s.edges[n-1].rows++
	s.edges[n-1].bytes += int64(size)
}

// compare compares the keys of an entity with those of the previous entity, and counts numbers that are not in numeric
// order.
func (s *Stored) compare(pk, rk string) {
	before, after := s.last[0], pk
	if before == after {
		before, after = s.last[1], rk
	}
	a, x := number(before)
	b, y := number(after)
	if a != b || x == "" || y == "" {
		return
	}
	s.numbers++
	if len(x) > len(y) && x[0] != '0' && y[0] != '0' {
		s.Misordered++
		if s.MisorderedExample == "" {
			s.MisorderedExample = before + " before " + after
		}
	}
}

// number splits a key into the digits at its end and the text before them.
func number(k string) (prefix, digits string) {
	i := len(k)
	for i > 0 && k[i-1] >= '0' && k[i-1] <= '9' {
		i--
	}
	return k[:i], k[i:]
}

func (s *Stored) close(p partition) {
	s.Partitions++
	s.Sizes[min(bits.Len64(uint64(p.rows))-1, len(s.Sizes)-1)]++
	if p.rows > s.LargestRows {
		s.LargestRows, s.LargestBytes, s.Largest = p.rows, p.bytes, p.key
	}
}

// Join combines the descriptions of adjacent ranges.
func Join(parts []Stored) *Stored {
	var all Stored
	var open []partition
	for i := range parts {
		p := &parts[i]
		for j, edge := range p.edges {
			if j == 0 && len(open) > 0 && open[len(open)-1].key == edge.key {
				open[len(open)-1].rows += edge.rows
				open[len(open)-1].bytes += edge.bytes
				continue
			}
			open = append(open, edge)
		}
		all.Rows += p.Rows
		all.Bytes += p.Bytes
		all.Partitions += p.Partitions
		all.numbers += p.numbers
		for j, n := range p.Sizes {
			all.Sizes[j] += n
		}
		if p.LargestRows > all.LargestRows {
			all.LargestRows, all.LargestBytes, all.Largest = p.LargestRows, p.LargestBytes, p.Largest
		}
		if p.WidestBytes > all.WidestBytes {
			all.WidestBytes, all.Widest = p.WidestBytes, p.Widest
		}
		if all.NearLimit += p.NearLimit; all.NearLimitExample == "" {
			all.NearLimitExample = p.NearLimitExample
		}
		if all.Misordered += p.Misordered; all.MisorderedExample == "" {
			all.MisorderedExample = p.MisorderedExample
		}
	}
	for _, p := range open {
		all.close(p)
	}
	return &all
}

// giantPartition reports a partition that has most of a table's rows.
func giantPartition(s *Stored) []Finding {
	share := float64(s.LargestRows) / float64(max(s.Rows, 1))
	if s.Rows < 10*minCount || share <= 0.5 {
		return nil
	}
	return []Finding{{
		Rule: "giant-partition", Finding: fmt.Sprintf("One partition has %.0f %% of the %s entities.", 100*share, commas(float64(s.Rows))),
		Number: 100 * share, Unit: "% of entities", Example: s.Largest,
		Why: Why{
			Azure:    "A partition cannot be divided: all its requests go to one machine, about 2,000 entities a second.",
			DynamoDB: "A partition is one hash key: 1,000 write units and 3,000 read units a second until DynamoDB splits it.",
			Workers:  "A partition is in one object: at most 10 GB, one thread.",
			Binary:   "No problem, but writes to one partition wait for each other.",
			Postgres: "No problem: a partition is a range of one index.",
		},
		Instead: "Divide the partition by a value that most queries know: PartitionKey = customer, device or month instead of a constant.",
	}}
}

// textOrder reports a table whose keys contain numbers that are not in numeric order, because keys sort as text.
func textOrder(s *Stored) []Finding {
	if s.Misordered < 2 || s.numbers < minCount/4 {
		return nil
	}
	return []Finding{{
		Rule: "text-order", Finding: fmt.Sprintf("Numbers in keys sort as text: %s times, a longer number is sorted before a shorter number.", commas(float64(s.Misordered))),
		Number: float64(s.Misordered), Unit: "places", Example: s.MisorderedExample,
		Why: Why{
			Azure:    "Keys sort as text: 1, 10, 2. A range such as RowKey ge '5' finds 50 and not 10.",
			DynamoDB: "The order is the same on every service.", Workers: "The order is the same on every service.", Binary: "The order is the same on every service.", Postgres: "The order is the same on every service.",
		},
		Instead: "Pad numbers with zeros to a fixed length (0000000010). To list the newest first, subtract them from the largest number.",
	}}
}
