package advise

import (
	"time"

	"edgetable/core/traffic"
)

func price(home, thing string) float64 {
	for _, p := range Prices {
		if p.Home == home && p.Thing == thing {
			return p.Dollars / p.Per
		}
	}
	panic("no price of " + home + " for " + thing)
}

// Cost is an estimated monthly cost.
type Cost struct {
	Home    string  `json:"home"`
	Dollars float64 `json:"dollarsAMonth"`
}

const month = 730 * time.Hour

// Costs estimates the monthly cost of the traffic and the data on each platform that charges by use. The single binary
// is not included, because it has no cost but its machine.
func Costs(f *Facts) []Cost {
	var reads, readUnits, queries, further, queryUnits, rows, requests, writes, units float64
	if r := f.Traffic; r != nil {
		t := &r.Totals
		scale := float64(month) / float64(max(r.Until.Sub(r.Since), time.Second))
		reads = scale * float64(t.Reads)
		readUnits = scale * float64(max(t.Reads, (t.ReadBytes+4095)/4096))
		queries = scale * float64(t.Queries)
		further = scale * float64(mergedPages(r)*uint64(max(f.Buckets, 1)-1))
		queryUnits = scale*float64(t.ScannedBytes/4096) + queries + further
		rows = scale * float64(t.Scanned)
		requests = reads + queries + scale*float64(t.WriteRequests)
		writes = scale * float64(t.Writes)
		// A write in a transaction costs twice as many DynamoDB write units as a single write.
		units = scale * float64(t.WriteUnits) * (1 + float64(t.BatchEntities)/float64(max(t.Writes, 1)))
	}
	gb := 0.0
	if f.Stored != nil {
		gb = float64(f.Stored.Bytes) / 1e9
	}
	return []Cost{
		{"azure", requests*price("azure", "transaction") + gb*price("azure", "GB-month")},
		{"dynamodb", units*price("dynamodb", "write unit") + (readUnits+queryUnits)*price("dynamodb", "read unit") +
			requests*price("dynamodb", "Lambda request of 10 ms with 256 MB of memory") + gb*price("dynamodb", "GB-month")},
		{"workers", requests*price("workers", "request to the Worker and to an object") +
			writes*price("workers", "row written") +
			(reads+rows)*price("workers", "row read") + gb*price("workers", "GB-month")},
	}
}

// mergedPages returns the number of query pages that read all buckets of a table on DynamoDB. On Workers, these pages
// have no additional cost, because each reads only the objects whose ranges contain its keys.
func mergedPages(r *traffic.Report) (pages uint64) {
	for _, s := range r.Shapes {
		switch s.Plan {
		case "Range", "Table", "Other":
			pages += s.Pages
		}
	}
	return pages
}

// Period returns the period for which the traffic was counted.
func Period(r *traffic.Report) time.Duration { return r.Until.Sub(r.Since).Round(time.Second) }
