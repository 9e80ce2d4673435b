package storetest

import (
	"errors"
	"math"

	"edgetable/core/edm"
	"edgetable/core/table"

	"github.com/anishathalye/porcupine"
)

// In the model, a write that answered [table.ErrUnknown] is an operation that never returns. The model may apply it at
// any moment after its call, even after all reads.
//
// Its Timestamp, or the revision of a table that it creates, is unknown until a read returns it. Until then, no
// condition can demand it.
const (
	unsettled         edm.Ticks      = -1
	unsettledRevision table.Revision = "unknown"

	never = math.MaxInt64 // return time of an operation whose outcome is unknown
)

func unknown(err error) bool { return errors.Is(err, table.ErrUnknown) }

// stepUnknown applies a write that answered ErrUnknown, if the state of the table permits it.
func (l laws) stepUnknown(s lifeOf, in step) lifeOf {
	live := s.revision != ""
	switch in.method {
	case "create":
		if !live {
			return lifeOf{revision: unsettledRevision, cells: s.cells}
		}
	case "drop":
		if live && s.dropping == 0 && in.revision == s.revision {
			_, s = l.stepOutsideDrop(s, in, answer{}, live)
		}
	case "dropped":
		if s.dropping == in.id {
			return lifeOf{cells: dropped(s.cells)}
		}
	case "commit":
		if live {
			if ok, next := l.commit(s, in.mutations, answer{ticks: unsettled}); ok {
				return next
			}
		}
	}
	return s
}

// readCell compares the result of a read with the cell in the model. If the Timestamp of the Commit that wrote the cell
// was unknown, readCell sets it in all cells of this Commit.
func (s lifeOf) readCell(k int, got cell) (bool, lifeOf) {
	c := s.cells[k]
	if !c.there || c.ticks != unsettled {
		return same(c, got), s
	}
	for i := range s.cells {
		other := &s.cells[i]
		if other.ticks != unsettled || other.nonce != c.nonce {
			continue
		}
		if got.ticks <= other.highest {
			return false, s // the Timestamps of a key must increase
		}
		other.ticks, other.highest = got.ticks, got.ticks
	}
	return same(s.cells[k], got), s
}

// parts splits a history into one for each partition, because the time of a check grows exponentially with the number
// of overlapping operations. Each operation must use one partition.
func parts(history []porcupine.Operation) [][]porcupine.Operation {
	const half = len(universe) / 2
	var list [2][]porcupine.Operation
	for _, op := range history {
		in := op.Input.(step)
		switch in.method {
		case "get":
			list[in.key/half] = append(list[in.key/half], op)
		case "commit":
			i := position(in.mutations[0].Key) / half
			list[i] = append(list[i], op)
		default: // both histories contain the creates and drops of the table, and may assume different orders of them
			list[0], list[1] = append(list[0], op), append(list[1], op)
		}
	}
	return list[:]
}
