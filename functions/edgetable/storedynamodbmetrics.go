package main

import (
	"sync/atomic"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/buckets"
)

// dynamodbMetrics adds what the store on DynamoDB reports.
func dynamodbMetrics(m *metrics) (dynamodb.Observer, func(buckets.Cost)) {
	if m == nil {
		return dynamodb.Observer{}, nil
	}
	calls := m.histograms("dynamodb_call_duration_seconds",
		"Time of a call to DynamoDB, by action and result: success, condition (it failed), busy (throttled or in conflict), unknown (whether it was applied) or failure.",
		latencies[:], "action", "result")
	units := m.counters("dynamodb_consumed_units_total", "Capacity units that calls consumed, as DynamoDB tells.", "kind")
	reads, writes := units.WithLabelValues("read"), units.WithLabelValues("write")
	var retries atomic.Int64
	m.total("dynamodb_retries_total", "Calls that were made again after a failure.", &retries)
	var page struct{ pages, calls, items, bytes atomic.Int64 }
	m.total("dynamodb_pages_total", "Pages of queries that were read from DynamoDB.", &page.pages)
	m.total("dynamodb_page_calls_total", "Calls that read these pages.", &page.calls)
	m.total("dynamodb_page_items_total", "Items that were read for these pages.", &page.items)
	m.total("dynamodb_page_bytes_total", "Bytes that were read for these pages, an estimate.", &page.bytes)
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
		add(&page.calls, c.Reads)
		add(&page.items, c.Rows)
		add(&page.bytes, c.Bytes)
	}
}
