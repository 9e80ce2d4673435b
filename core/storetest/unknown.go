package storetest

import (
	"errors"
	"math"

	"edgetable/core/edm"
	"edgetable/core/table"

	"github.com/anishathalye/porcupine"
)

// The model of writes that answered [table.ErrUnknown]. Such a write may be applied at any
// moment after its call, or never. It has no return in a history, so it may come last,
// after all reads, which is the same as never.
//
// Its Timestamp, or the revision of its table, is unknown until the first read shows it.
// No condition can have named it before.
const (
	unsettled         edm.Ticks      = -1
	unsettledRevision table.Revision = "unknown"

	never = math.MaxInt64 // returns an operation whose outcome is unknown
)

func unknown(err error) bool { return errors.Is(err, table.ErrUnknown) }

// maybe applies a write that answered ErrUnknown, if it can be applied.
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

// sees reads a cell. If the Timestamp of the Commit that wrote it was unknown, it sets it
// in all cells of that Commit.
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

// parts splits a history whose operations each touch only one partition into one history for each
// partition. Both contain the creates and drops of the table. They are checked separately, because
// the time of a check grows exponentially with the number of overlapping operations, and a page
// counts as one Get per row. Only the order of calls and returns shows that both partitions saw the
// incarnations of the table in the same order.
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
