package storetest

import (
	"errors"
	"math"

	"edgetable/core/edm"
	"edgetable/core/table"

	"github.com/anishathalye/porcupine"
)

// What [table.ErrUnknown] leaves in the model. A write that answered so may be
// carried out at any moment from its call on, or never. In a history it has no
// return, so it may come last, where nobody sees it: that is never.
//
// What it would have answered is not known either: the Timestamp of its cells and
// the revision of its table are settled by the first read that shows them. Before
// that nobody can have named them in a condition.
const (
	unsettled         edm.Ticks      = -1
	unsettledRevision table.Revision = "unknown"

	never = math.MaxInt64 // returns an operation whose outcome is unknown
)

func unknown(err error) bool { return errors.Is(err, table.ErrUnknown) }

// maybe is a write that answered ErrUnknown: it is carried out if it can be.
func (l laws) maybe(s lifeOf, in step) lifeOf {
	live := s.revision != ""
	switch in.method {
	case "create":
		if !live {
			return lifeOf{revision: unsettledRevision, cells: s.cells}
		}
	case "drop":
		if live && s.dropping == 0 && in.revision == s.revision {
			_, s = l.alone(s, in, answer{}, live)
		}
	case "dropped":
		if s.dropping == in.id {
			return lifeOf{cells: buried(s.cells)}
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

// sees is a read of a cell. Where it settles the Timestamp of a Commit, it does so
// for all cells that this wrote.
func (s lifeOf) sees(k int, got cell) (bool, lifeOf) {
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
			return false, s // "those of one key strictly increase"
		}
		other.ticks, other.highest = got.ticks, got.ticks
	}
	return same(s.cells[k], got), s
}

// parts are the histories of the two partitions, each with the lives of the table,
// where no Commit and no read is of both. They are checked apart, for the time that
// takes grows exponentially with what overlaps, and a page is a Get a row. What
// that leaves out is whether both saw the lives of the table in one order, as far
// as calls and returns do not say it.
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
		default:
			list[0], list[1] = append(list[0], op), append(list[1], op)
		}
	}
	return list[:]
}
