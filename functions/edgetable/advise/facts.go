package advise

import "edgetable/core/traffic"

// Facts are the known facts about a table.
type Facts struct {
	Traffic *traffic.Report // nil if the traffic is unknown
	Stored  *Stored         // nil if the entities are unknown
	// Buckets is the number of buckets of the table on DynamoDB.
	Buckets int
	// Splits says that the traffic was counted by objects of Workers. These split by themselves unless the Worker is
	// configured not to, which the traffic does not show.
	Splits bool
}

// Enough reports whether there are enough facts to judge by.
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
