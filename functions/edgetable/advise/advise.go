// Package advise judges the keys of a table by its traffic and its entities. A [Finding] is a problem with an example,
// its consequences, and another key pattern.
package advise

// Advise applies all rules and returns the findings in the order of the rules.
func Advise(f *Facts) []Finding {
	var list []Finding
	add := func(found []Finding) { list = append(list, found...) }
	if f.Traffic != nil {
		add(hotPartitions(f.Traffic))
		add(appendOnly(f.Traffic))
		add(scanRatios(f.Traffic))
		add(batches(f.Traffic))
		if !f.Splits {
			add(moreBuckets(f.Traffic, f.Buckets))
		}
	}
	if f.Stored != nil {
		add(giantPartition(f.Stored))
		add(textOrder(f.Stored))
		add(nearLimit(f.Stored))
	}
	add(singleRows(f))
	add(wideEntities(f))
	return list
}
