// Package advise judges the keys of a table by its traffic and its entities. A
// [Finding] names a problem, with a number and an example, why it matters in each
// home, and which pattern to use instead.
package advise

import (
	"edgetable/core/traffic"
)

// Facts are the known facts about a table.
type Facts struct {
	Traffic *traffic.Report // nil: unknown
	Stored  *Stored         // nil: unknown
	// Buckets is the number of buckets of the table on DynamoDB and Workers.
	Buckets int
}

// Finding is one thing to change.
type Finding struct {
	Rule    string  `json:"rule"`
	Finding string  `json:"finding"` // a sentence with the number
	Number  float64 `json:"number"`
	Unit    string  `json:"unit"`
	Example string  `json:"example"` // a key or a filter
	Why     Why     `json:"why"`
	Instead string  `json:"instead"`
}

// Why says what a finding means in each home.
type Why struct {
	Azure    string `json:"azure"`
	DynamoDB string `json:"dynamodb"`
	Workers  string `json:"workers"`
	Binary   string `json:"binary"`
	Postgres string `json:"postgresql"`
}

// enough is the number of operations, rows or inserts below which nothing is said:
// shares of less say nothing about the table.
const enough = 200

// Advise applies all rules. Findings have the order of the rules.
func Advise(f *Facts) []Finding {
	var list []Finding
	add := func(found []Finding) { list = append(list, found...) }
	if f.Traffic != nil {
		add(hotPartitions(f.Traffic))
		add(appendOnly(f.Traffic))
		add(scanRatios(f.Traffic))
		add(batches(f.Traffic))
		add(moreBuckets(f.Traffic, f.Buckets))
	}
	if f.Stored != nil {
		add(giantPartition(f.Stored))
		add(textOrder(f.Stored))
	}
	add(singleRows(f))
	add(wideEntities(f))
	return list
}

// Enough reports whether there are facts to judge by.
func (f *Facts) Enough() bool {
	if f.Stored != nil && f.Stored.Rows >= enough {
		return true
	}
	if f.Traffic == nil {
		return false
	}
	t := &f.Traffic.Totals
	return t.Reads+t.Writes+t.Scanned >= enough
}
