package load

import "edgetable/functions/edgetable/load/wire"

// BatchBody returns the body of the kth batch that Fill sends.
func BatchBody(t wire.Target, table string, l Layout, k int) []byte {
	var req wire.Request
	start, n := l.batch(k)
	return newBatchEncoder(t, table, JSON).request(&req, nil, n, func(dst []byte, j int) []byte { return l.AppendEntity(dst, start+j) })
}

// Batches returns the number of batches that Fill sends.
func (l Layout) Batches() int { return l.batches() }

// CountEntities exports Format.countEntities for tests.
var CountEntities = Format.countEntities

const BatchHeader = headBatch

// AppendAs appends entity i in a format.
func (l Layout) AppendAs(f Format, dst []byte, i int) []byte { return l.appendAs(f, dst, i) }
