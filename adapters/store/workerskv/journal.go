package workerskv

import (
	"encoding/binary"
	"slices"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// journal is the cell of a partition with what transactions wrote: one put of
// it is the moment at which all of a transaction is done. Readers lay its rows over
// those of the partition; of two states of an entity the newer counts.
//
// A row stays for two minutes before it is written where it belongs, by the next
// writer, and for two more after. So whoever can see it there, or the lack of it,
// sees the journal too, however old what KV shows them: between the journal
// without a transaction, where no row shows it either, and its rows without the
// journal, there is never a moment that shows half.
//
//	journal = stamp (8) · version (1) · rows
//	row     = uvarint length · encoded key · state (1) · since (8) · written (8) · uvarint length · cell
//
// The cell of a deleted entity is its stamp alone.
//
// As long as a transaction may not be seen by all, whatever is written to its
// entities goes into the journal too, or it would show a part of it. After that
// they are written where they belong, and what the journal has of them is just older;
// but for deletes, which leave nothing behind that could be newer.
type journal struct {
	rows map[string]journalRow // by encoded key
	size int                   // of the rows, encoded
}

type journalRow struct {
	gone    bool
	since   edm.Ticks // stamp of the last transaction with this entity, 0: none
	written edm.Ticks // when it was, where it belongs, 0: not yet
	cell    []byte    // begins with the stamp
}

const (
	journalVersion = 1
	// maxJournal bounds a journal well below what KV takes and an isolate can hold
	// a few times, each of them in one piece. A transaction has 4 MiB at most.
	maxJournal = 8 << 20
	// journalRowSize is more than what a row takes besides its key and cell.
	journalRowSize = 3*binary.MaxVarintLen32 + 18
)

func (r journalRow) stamp() edm.Ticks { return stampOf(r.cell) }

// fresh reports whether some may not see yet that there is a transaction.
func (r journalRow) fresh(now edm.Ticks) bool { return r.since+settled > now }

// due reports whether it is time to write the row where it belongs, or to leave it
// out.
func (r journalRow) due(now edm.Ticks) bool { return max(r.stamp(), r.written)+settled <= now }

// due reports whether there is anything to be done.
func (j *journal) due(now edm.Ticks) bool {
	for _, r := range j.rows {
		if r.due(now) {
			return true
		}
	}
	return false
}

func (j *journal) set(k string, r journalRow) {
	j.remove(k)
	if j.rows == nil {
		j.rows = make(map[string]journalRow)
	}
	j.rows[k] = r
	j.size += journalRowSize + len(k) + len(r.cell)
}

func (j *journal) remove(k string) {
	if r, ok := j.rows[k]; ok {
		j.size -= journalRowSize + len(k) + len(r.cell)
		delete(j.rows, k)
	}
}

// keys are those of the rows, in order.
func (j *journal) keys() []string {
	list := make([]string, 0, len(j.rows))
	for k := range j.rows {
		list = append(list, k)
	}
	slices.SortFunc(list, strings.Compare)
	return list
}

func (j *journal) encode(stamp edm.Ticks) []byte {
	b := make([]byte, 0, stampSize+1+j.size)
	b = binary.BigEndian.AppendUint64(b, uint64(stamp))
	b = append(b, journalVersion)
	for _, k := range j.keys() {
		r := j.rows[k]
		b = binary.AppendUvarint(b, uint64(len(k)))
		b = append(b, k...)
		state := byte(0)
		if r.gone {
			state = 1
		}
		b = append(b, state)
		b = binary.BigEndian.AppendUint64(b, uint64(r.since))
		b = binary.BigEndian.AppendUint64(b, uint64(r.written))
		b = binary.AppendUvarint(b, uint64(len(r.cell)))
		b = append(b, r.cell...)
	}
	return b
}

// decodeJournal reads a cell; nil is an empty journal. The cells of the rows
// share the memory of the body.
func decodeJournal(body []byte) (*journal, error) {
	j := new(journal)
	if body == nil {
		return j, nil
	}
	if len(body) < stampSize+1 || body[stampSize] != journalVersion {
		return nil, errCell
	}
	b := body[stampSize+1:]
	for last := ""; len(b) > 0; {
		k, rest, ok := field(b)
		if !ok || len(rest) < 17 || rest[0] > 1 || string(k) <= last {
			return nil, errCell
		}
		r := journalRow{
			gone:    rest[0] == 1,
			since:   edm.Ticks(binary.BigEndian.Uint64(rest[1:])),
			written: edm.Ticks(binary.BigEndian.Uint64(rest[9:])),
		}
		if r.cell, b, ok = field(rest[17:]); !ok || len(r.cell) < stampSize || r.gone != (len(r.cell) == stampSize) {
			return nil, errCell
		}
		if !r.gone {
			if _, err := table.ParseRow(k, r.cell); err != nil {
				return nil, errCell
			}
		}
		last = string(k)
		j.set(last, r)
	}
	return j, nil
}

// field splits a length and as many bytes from b.
func field(b []byte) (f, rest []byte, ok bool) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return nil, nil, false
	}
	b = b[size:]
	return b[:n:n], b[n:], true
}
