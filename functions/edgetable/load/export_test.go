package load

import "edgetable/functions/edgetable/load/wire"

// BatchBody returns the body of batch k of Fill.
func BatchBody(t wire.Target, table string, l Layout, k int) []byte {
	var req wire.Request
	start, n := l.batch(k)
	return newBatchEncoder(t, table, JSON).request(&req, nil, n, func(dst []byte, j int) []byte { return l.AppendEntity(dst, start+j) })
}

// Batches returns the number of batches of Fill.
func (l Layout) Batches() int { return l.batches() }

// CountEntities and BatchHeader export parts of the workloads.
var CountEntities = Format.countEntities

const BatchHeader = headBatch

// AppendAs appends an entity in a format.
func (l Layout) AppendAs(f Format, dst []byte, i int) []byte { return l.appendAs(f, dst, i) }
