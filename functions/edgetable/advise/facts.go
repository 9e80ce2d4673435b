package advise

import "edgetable/core/traffic"

// Facts contains what is known about a table.
type Facts struct {
	Traffic *traffic.Report // counted traffic; nil if it is unknown
	Stored  *Stored         // statistics of the entities; nil if they are unknown
	// Buckets is the number of buckets of the table on DynamoDB.
	Buckets int
	// Splits means that the traffic is from Durable Objects. These objects split automatically, unless the
	// configuration of the Worker disables this. The report does not contain the configuration.
	Splits bool
}

// AreEnough reports whether the facts are sufficient for findings.
func (f *Facts) AreEnough() bool {
	if f.Stored != nil && f.Stored.Rows >= minCount {
		return true
	}
	if f.Traffic == nil {
		return false
	}
	t := &f.Traffic.Totals
	return t.Reads+t.Writes+t.Scanned >= minCount
}
