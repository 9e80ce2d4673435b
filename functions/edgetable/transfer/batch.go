package transfer

import (
	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/rows"
)

// batch is a group of rows of one partition, together with the rows rejected since the previous batch.
type batch struct {
	source  *Source
	ops     []remote.Operation
	lines   []int
	buf     []byte // bodies of all operations
	ends    []int  // end offset in buf of the body of each operation
	weight  int
	rejects []rows.Reject
	rows    int64 // number of rows of the source up to the last row of this batch
	totals  progressfile.Totals
	done    bool
}

func (b *batch) fits(op *remote.Operation) bool {
	n := len(b.ops)
	return n == 0 || n < remote.MaxOperations && b.ops[0].Kind == op.Kind && b.ops[0].PartitionKey == op.PartitionKey && b.weight+op.Weight() <= remote.MaxWeight
}

// push appends an operation. It copies the body, because the caller reuses the buffer.
func (b *batch) push(op remote.Operation, line int) {
	b.weight += op.Weight()
	b.buf = append(b.buf, op.Body...)
	b.ops, b.lines, b.ends = append(b.ops, op), append(b.lines, line), append(b.ends, len(b.buf))
}

// seal makes the operations' bodies point into buf. After this, push must not be called, because it may reallocate buf.
func (b *batch) seal() {
	from := 0
	for i, end := range b.ends {
		b.ops[i].Body = b.buf[from:end]
		from = end
	}
}

// reset clears the operations but retains the rejects, which have not been written yet.
func (b *batch) reset() {
	*b = batch{source: b.source, ops: b.ops[:0], lines: b.lines[:0], ends: b.ends[:0], buf: b.buf[:0], rejects: b.rejects}
}
