package load

import "edgetable/functions/tablebench/internal/wire"

// BatchBody lays out one batch of Fill for the tests.
func BatchBody(t wire.Target, table string, l Layout, k int) []byte {
	var req wire.Request
	start, n := l.batch(k)
	return newBatchEncoder(t, table).request(&req, nil, n, func(dst []byte, j int) []byte { return l.AppendEntity(dst, start+j) })
}

// Batches is the number of them.
func (l Layout) Batches() int { return l.batches() }

// CountEntities and BatchContentType expose what the workloads use.
var CountEntities = countEntities

const BatchHeader = headBatch
