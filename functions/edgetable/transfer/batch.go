package transfer

import (
	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/rows"
)

// batch has rows of one partition, and the rows that were refused since the previous batch.
type batch struct {
	source  *Source
	ops     []remote.Operation
	lines   []int
	buf     []byte // bodies of all operations
	ends    []int  // for each operation, the index in buf at which its body ends
	weight  int
	rejects []rows.Reject
	rows    int64 // number of rows from the start of the source to the last row of this batch
	totals  progressfile.Totals
	done    bool
}

func (b *batch) fits(op *remote.Operation) bool {
	n := len(b.ops)
	return n == 0 || n < remote.MaxOperations && b.ops[0].Kind == op.Kind && b.ops[0].PartitionKey == op.PartitionKey && b.weight+op.Weight() <= remote.MaxWeight
}

// push adds an operation and copies its body, because the caller reuses the memory of the body.
func (b *batch) push(op remote.Operation, line int) {
	b.weight += op.Weight()
	b.buf = append(b.buf, op.Body...)
	b.ops, b.lines, b.ends = append(b.ops, op), append(b.lines, line), append(b.ends, len(b.buf))
}

// seal sets the bodies of the operations to slices of buf. No operation can be added later, because
// append may move buf.
func (b *batch) seal() {
	from := 0
	for i, end := range b.ends {
		b.ops[i].Body = b.buf[from:end]
		from = end
	}
}

// reset removes the operations of a batch. It keeps the refused rows until they are written to
// their file.
func (b *batch) reset() {
	*b = batch{source: b.source, ops: b.ops[:0], lines: b.lines[:0], ends: b.ends[:0], buf: b.buf[:0], rejects: b.rejects}
}
