package advise

import "edgetable/core/traffic"

// Facts are the known facts about a table.
type Facts struct {
	Traffic *traffic.Report // nil: unknown
	Stored  *Stored         // nil: unknown
	// Buckets is the number of buckets of the table on DynamoDB.
	Buckets int
	// Splits says that objects of Workers counted the traffic: they split by themselves,
	// unless the Worker is told not to, which the traffic does not show.
	Splits bool
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
