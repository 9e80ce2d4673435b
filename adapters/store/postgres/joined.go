package postgres

import (
	"iter"
	"slices"

	"edgetable/adapters/store/postgres/statement"
)

// joined splits the writes of a round or batch, which are in lock order, into parts that one statement can write. A part
// of several writes has consecutive inserts, or consecutive upserts, of one table without options. Such a statement takes
// less of the database's processor time than a statement for each write, see BenchmarkBesideRaw.
func joined(group []*write) iter.Seq[[]*write] {
	return func(yield func([]*write) bool) {
		for len(group) > 0 {
			n := 1
			for n < len(group) && group[0].joins(group[n]) {
				n++
			}
			if !yield(group[:n]) {
				return
			}
			group = group[n:]
		}
	}
}

func (w *write) joins(next *write) bool {
	return w.joinable() && next.joinable() && w.form == next.form && w.name == next.name
}

func (w *write) joinable() bool {
	return int(w.form) < len(statement.ManyWrites) && w.declared == nil && w.properties != nil
}

// callsOf returns a call for each part of the writes of a round or batch.
func callsOf(group []*write, inBatch bool) (calls []statement.Call) {
	for part := range joined(group) {
		if len(part) == 1 {
			calls = append(calls, part[0].call(inBatch))
			continue
		}
		how := statement.ManyWrites[part[0].form].Alone
		if inBatch {
			how = statement.ManyWrites[part[0].form].Batch
		}
		columns := [4][][]byte{} // key, Timestamp, nonce and properties of each write
		for _, w := range part {
			for i, value := range w.args()[1:] {
				columns[i] = append(columns[i], value)
			}
		}
		calls = append(calls, how.With([]byte(part[0].name),
			statement.Array(statement.OIDBytes, columns[0]), statement.Array(statement.OIDInt8, columns[1]),
			statement.Array(statement.OIDInt8, columns[2]), statement.Array(statement.OIDBytes, columns[3])))
	}
	return calls
}

// setWrote sets wrote of each write of a round from the results of its calls. Each write has a Timestamp of its own, so
// that the Timestamps which a call returned tell its writes apart.
func setWrote(group []*write, results []statement.Result) {
	call := 0
	for part := range joined(group) {
		for _, w := range part {
			w.wrote = results[call].Rows > 0
			if len(part) > 1 {
				w.wrote = slices.Contains(results[call].Written, int64(w.ticks))
			}
		}
		call++
	}
}
