package advise

import "fmt"

// singleRows reports a table with one row in each partition, if queries read ranges of its partitions.
func singleRows(f *Facts) []Finding {
	if f.Traffic == nil {
		return nil
	}
	alone := false
	number := 1.0
	if s := f.Stored; s != nil && s.Rows >= minCount {
		number = float64(s.Rows) / float64(max(s.Partitions, 1))
		alone = number < 1.1
	} else if t := &f.Traffic.Totals; t.FirstInserts >= minCount {
		// FirstPartitions is an estimate, which may be too low
		alone = float64(t.FirstPartitions) > 0.85*float64(t.FirstInserts)
	}
	pages, example := uint64(0), ""
	for _, s := range f.Traffic.Shapes {
		if s.Plan == "Range" || s.Plan == "Table" && s.Filter == "" {
			pages += s.Pages
			if example == "" {
				example = s.Example
			}
		}
	}
	if !alone || pages < minCount/10 {
		return nil
	}
	return []Finding{{
		Rule: "range-over-single-rows", Finding: fmt.Sprintf("Each partition has only one entity, and %s pages were read by queries over ranges of partitions.", commas(float64(pages))),
		Number: float64(pages), Unit: "pages", Example: example,
		Why: Why{
			Azure:    "A page ends where the table is divided between machines: many short or empty pages, each with a round trip.",
			DynamoDB: "A query over a range of partitions reads every bucket (hash key) of the table, with one DynamoDB Query for each bucket and page.",
			Workers:  "A query over a range of partitions sends a request to the Durable Object of every bucket (part of the table).",
			Binary:   "No harm.",
			Postgres: "A query over a range of partitions reads a range of one index, which costs little.",
		},
		Instead: "Put entities that are read together into one partition: PartitionKey = their common part (the customer, the day), RowKey = the rest. Then batches are possible, too.",
	}}
}

// largeEntity is the minimum size in bytes of an entity that is reported as large.
const largeEntity = 256 << 10

func wideEntities(f *Facts) []Finding {
	n, example := 0, ""
	if f.Traffic != nil {
		n, example = int(f.Traffic.Totals.Largest), f.Traffic.Totals.LargestIn
	}
	if f.Stored != nil && f.Stored.WidestBytes > n {
		n, example = f.Stored.WidestBytes, f.Stored.Widest
	}
	if n < largeEntity {
		return nil
	}
	return []Finding{{
		Rule: "wide-entities", Finding: fmt.Sprintf("The largest entity has %d KiB; 1,024 are allowed.", n>>10), Number: float64(n >> 10), Unit: "KiB", Example: example,
		Why: Why{
			Azure:    "Azure refuses an entity of more than 1 MiB. A page holds at most 4 MiB, so a list of large entities needs many pages.",
			DynamoDB: "A write costs a write unit for each KiB of the whole entity, even if only one property changes; an entity beyond 380 KiB is stored in chunks, with more calls.",
			Workers:  "An SQLite row can hold up to 2 MB, and each row is copied into the 64 MiB memory of a Wasm module.",
			Binary:   "Each update writes the whole entity to the log.",
			Postgres: "Each update writes the whole entity to the log, and the old version stays until vacuum removes it.",
		},
		Instead: "Move large properties that are seldom read to a blob, and store the address of the blob in the entity. Or move them to a separate entity with the same keys in another table.",
	}}
}

// nearLimit reports entities that Azure may reject because of their size.
func nearLimit(s *Stored) []Finding {
	if s.NearLimit == 0 {
		return nil
	}
	return []Finding{{
		Rule: "near-the-limit", Finding: fmt.Sprintf("%s entities are within 160 bytes of 1 MiB by the service's formula.", commas(float64(s.NearLimit))), Number: float64(s.NearLimit), Unit: "entities", Example: s.NearLimitExample,
		Why: Why{
			Azure:    "Users measured that the real limit is 88 to 160 bytes below 1 MiB by this formula. So Azure may refuse a copy of these entities with EntityTooLarge.",
			DynamoDB: "No harm.", Workers: "No harm.", Binary: "No harm.", Postgres: "No harm.",
		},
		Instead: "Keep entities below 1,048,416 bytes if they may ever move to Azure Table Storage.",
	}}
}
