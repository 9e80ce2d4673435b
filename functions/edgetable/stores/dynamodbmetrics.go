package stores

import (
	"sync/atomic"

	"edgetable/adapters/observe"
	"edgetable/adapters/store/dynamodb"
	"edgetable/core/buckets"
)

// DynamoDBMetrics registers the metrics of a store on DynamoDB, and returns the functions with which the store updates
// them.
func DynamoDBMetrics(m *observe.Metrics) (dynamodb.Observer, func(buckets.Cost)) {
	if m == nil {
		return dynamodb.Observer{}, nil
	}
	calls := m.Histograms("dynamodb_call_duration_seconds",
		"Time of a call to DynamoDB, by action and result: success, condition (the condition was not met), busy (throttled or in conflict), unknown (a write that may have been applied) or failure.",
		observe.Latencies[:], "action", "result")
	units := m.Counters("dynamodb_consumed_units_total", "Capacity units that calls consumed, as DynamoDB reports.", "kind")
	reads, writes := units.WithLabelValues("read"), units.WithLabelValues("write")
	var retries atomic.Int64
	m.Total("dynamodb_retries_total", "Calls that were retried after a failure.", &retries)
	var page struct{ pages, calls, items, bytes atomic.Int64 }
	m.Total("dynamodb_pages_total", "Pages of queries that were read from DynamoDB.", &page.pages)
	m.Total("dynamodb_page_calls_total", "Calls that read pages of queries.", &page.calls)
	m.Total("dynamodb_page_items_total", "Items that were read for pages of queries.", &page.items)
	m.Total("dynamodb_page_bytes_total", "Estimated bytes that were read for pages of queries.", &page.bytes)
	observer := dynamodb.Observer{
		Call: func(o dynamodb.Observation) {
			calls.WithLabelValues(o.Action, o.Result).Observe(o.Took.Seconds())
			reads.Add(o.ReadUnits)
			writes.Add(o.WriteUnits)
		},
		Retry: func() { retries.Add(1) },
	}
	return observer, func(c buckets.Cost) {
		page.pages.Add(1)
		observe.Add(&page.calls, c.Reads)
		observe.Add(&page.items, c.Rows)
		observe.Add(&page.bytes, c.Bytes)
	}
}
