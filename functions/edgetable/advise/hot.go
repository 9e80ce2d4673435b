package advise

import (
	"fmt"

	"edgetable/core/traffic"
)

const (
	dynamodbPartition = 1000 // maximum number of write units per second of a DynamoDB partition
	hotShare          = 0.3  // a partition with more than this share of the operations is hot
)

// hotPartitions reports partitions with a large share of the reads or writes.
func hotPartitions(r *traffic.Report) (list []Finding) {
	for _, metric := range []string{"writes", "reads"} {
		h := r.Partitions[metric]
		if h.Total < minCount || len(h.Entries) == 0 {
			continue
		}
		e := h.Entries[0]
		share := float64(e.Count-e.Error) / float64(r.Sum(metric))
		if share <= hotShare && (metric != "writes" || r.Totals.SecondMost < dynamodbPartition) {
			continue
		}
		text := fmt.Sprintf("One partition gets %.0f %% of the %s.", 100*share, metric)
		example := e.Partition
		if metric == "writes" && share <= hotShare {
			text = fmt.Sprintf("One partition gets %s writes in a second.", commas(float64(r.Totals.SecondMost)))
			example = r.Totals.SecondMostIn
		}
		list = append(list, Finding{
			Rule: "hot-partition", Finding: text, Number: 100 * share, Unit: "% of " + metric, Example: example,
			Why: Why{
				Azure:    "A partition is served by one machine: about 2,000 entities of 1 KiB a second, then 503 ServerBusy.",
				DynamoDB: "A partition is one hash key: 1,000 write units and 3,000 read units a second until DynamoDB splits it, after minutes of high load.",
				Workers:  "A partition is in one Durable Object, which has one thread and serves a few hundred requests a second. No split of the table divides a partition.",
				Binary:   "Writes to one partition wait for each other; reads do not wait. Tens of thousands of requests a second are possible.",
				Postgres: "A partition is a range of one index: writes to different entities do not wait for each other; writes to the same entity do.",
			},
			Instead: "Put a hash or another part of the entity's own name into the PartitionKey (device-17 instead of devices), or spread one partition over N partitions with a suffix 0…N-1, and read all N. Cache the entities that are read most.",
		})
	}
	return list
}

// appendOnly reports a table in which almost all inserts are at the same end.
func appendOnly(r *traffic.Report) []Finding {
	t := &r.Totals
	if t.Judged < minCount {
		return nil
	}
	n, end := t.AtEnd, "end"
	if t.AtStart > n {
		n, end = t.AtStart, "start"
	}
	share := float64(n) / float64(t.Judged)
	if share <= 0.9 {
		return nil
	}
	return []Finding{{
		Rule: "append-only", Finding: fmt.Sprintf("%.0f %% of the inserts are at the %s of the table.", 100*share, end),
		Number: 100 * share, Unit: "% of inserts", Example: t.LastInserted,
		Why: Why{
			Azure:    "All inserts go to the machine with the last range of the table. A split does not help: the next inserts are at the end again.",
			DynamoDB: "No harm if each entity has another PartitionKey, because a hash of the PartitionKey selects the bucket (hash key). If all entities of an hour or a day have one PartitionKey, all inserts go to one hash key. It accepts 1,000 write units a second, and splits do not help.",
			Workers:  "The Durable Object with the last keys gets all inserts. It has one thread and serves a few hundred requests a second. The object splits when it is large, but no split divides this load: all new keys are on the same side of the split. In a table that was made with EDGETABLE_BUCKETS, a hash spreads the partitions over several objects.",
			Binary:   "No harm: inserts in the order of the keys need little work on the disk.",
			Postgres: "The inserts go to the last pages of one index, and few pages change: no problem.",
		},
		Instead: "Begin the PartitionKey with the part that distinguishes the sources (the device, the customer, or a hash modulo 16), and keep the time in the RowKey. Reversed ticks do not help: they move the load to the start of the table.",
	}}
}

// moreBuckets reports a table that gets more writes than its number of buckets permits.
func moreBuckets(r *traffic.Report, buckets int) []Finding {
	most := uint64(0)
	for _, c := range r.Map.Minutes {
		sum := uint64(0)
		for _, cell := range c.Counts {
			sum += uint64(cell[2])
		}
		most = max(most, sum)
	}
	rate := float64(most) / 60
	units := 1.0
	if t := &r.Totals; t.Writes > 0 {
		units = float64(t.WriteUnits) / float64(t.Writes)
	}
	limit := float64(buckets*dynamodbPartition) * 0.7
	if rate*units <= limit {
		return nil
	}
	need := 1
	for float64(need*dynamodbPartition)*0.7 < rate*units {
		need *= 2
	}
	return []Finding{{
		Rule: "more-buckets", Finding: fmt.Sprintf("In the busiest minute, the table used %.0f write units a second; its %d buckets (hash keys) accept about %d write units a second.", rate*units, buckets, buckets*dynamodbPartition),
		Number: rate * units, Unit: "write units/s", Example: fmt.Sprintf("%d buckets", need),
		Why: Why{
			Azure:    "Azure splits the ranges automatically, if the PartitionKeys differ; an account is limited to 20,000 entities a second.",
			DynamoDB: "Each bucket is a hash key with 1,000 write units a second at first.",
			Workers:  "A Durable Object that is busy for a minute splits automatically. It does not split if most requests are for one partition, if EDGETABLE_SPLIT_RATE is 0, or with the profile named free.",
			Binary:   "There are no buckets.",
			Postgres: "There are no buckets.",
		},
		Instead: fmt.Sprintf("On DynamoDB, run 'edgetable dynamodb rebucket --buckets %d', also while the table is used. On other services, nothing needs to be done.", need),
	}}
}
