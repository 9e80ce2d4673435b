package storetest

import (
	"errors"
	"fmt"
	"slices"

	"edgetable/core/edm"
	"edgetable/core/table"

	"github.com/anishathalye/porcupine"
)

// This file contains a sequential model of one table, with which the concurrent histories are compared. Its states can
// be compared with ==.

// universe contains all keys of a history: two partitions of three keys each.
var universe = [...]string{"p\x00a", "p\x00b", "p\x00c", "q\x00a", "q\x00b", "q\x00c"}

// cell is an entity in the model.
type cell struct {
	there      bool
	ticks      edm.Ticks
	nonce      uint64
	properties string
	highest    edm.Ticks // the highest Timestamp that the key ever had, in any incarnation
}

func (c cell) row(k string) *table.Row {
	if !c.there {
		return nil
	}
	return &table.Row{Key: []byte(k), Timestamp: c.ticks, Nonce: c.nonce, Properties: edm.Properties(c.properties)}
}

// lifeOf is the state of a table in the model.
type lifeOf struct {
	revision table.Revision // the revision of the table's record; "" if the table does not exist
	dropping int64          // the id of the Drop in progress, or 0; always 0 with ExactDrop, because a Drop then takes effect at one moment
	cells    [len(universe)]cell
}

// step is one operation of a client.
type step struct {
	method    string // one of create, read, drop, dropped, get, commit and scan
	client    int
	id        int64          // id of the step, which is unique in the history and not 0
	revision  table.Revision // for a drop, the revision that the table's record must have
	key       int            // for a get, the index of the key in universe
	mutations []table.Mutation
}

// answer is the result of a step.
type answer struct {
	err      error
	revision table.Revision
	ticks    edm.Ticks
	cells    [len(universe)]cell // the entities that a get or a scan returned; their field highest is not set
}

// laws are the rules of the model that depend on the declared strengths of the store.
type laws struct {
	exactDrop bool
	// acrossDeletes means that the Timestamps of a key must increase even if the entity was deleted in between.
	acrossDeletes bool
	// singlePartition means that each step reads or writes only one partition, so that the partitions can be checked
	// separately.
	singlePartition bool
}

func (l laws) model() porcupine.Model {
	m := porcupine.Model{
		Init: func() any { return lifeOf{} },
		Step: func(state, input, output any) (bool, any) {
			return l.step(state.(lifeOf), input.(step), output.(answer))
		},
		DescribeOperation: func(input, output any) string { return describeStep(input.(step), output.(answer)) },
	}
	if l.singlePartition {
		m.Partition = parts
	}
	return m
}

func (l laws) step(s lifeOf, in step, out answer) (bool, lifeOf) {
	if unknown(out.err) {
		return true, l.stepUnknown(s, in)
	}
	live := s.revision != ""
	if l.exactDrop || s.dropping == 0 {
		return l.stepOutsideDrop(s, in, out, live)
	}
	// Without ExactDrop, an operation during a Drop might or might not find the table. Until the Drop has ended, a
	// create fails, possibly with ErrBeingDeleted.
	switch {
	case in.method == "dropped" && s.dropping == in.id:
		return true, lifeOf{cells: dropped(s.cells)}
	case in.method == "create":
		return errors.Is(out.err, table.ErrRevision) || errors.Is(out.err, table.ErrBeingDeleted), s
	case in.method == "drop":
		return reason(out.err) == reason(table.ErrRevision), s
	}
	if ok, next := l.stepOutsideDrop(s, in, out, true); ok {
		return true, next
	}
	return l.stepOutsideDrop(s, in, out, false)
}

// stepOutsideDrop applies a step as if no Drop were in progress. If live is true, the step finds the table.
func (l laws) stepOutsideDrop(s lifeOf, in step, out answer, live bool) (bool, lifeOf) {
	got := reason(out.err)
	switch in.method {
	case "create":
		if live {
			return got == reason(table.ErrRevision), s
		}
		next := lifeOf{revision: out.revision, cells: s.cells}
		return out.err == nil && out.revision != "", next
	case "read":
		if !live {
			return got == reason(table.ErrNoRecord), s
		}
		if s.revision == unsettledRevision && out.err == nil {
			s.revision = out.revision
		}
		return out.err == nil && out.revision == s.revision, s
	case "drop":
		if !live || in.revision != s.revision {
			return got == reason(table.ErrRevision), s
		}
		if l.exactDrop {
			return out.err == nil, lifeOf{cells: dropped(s.cells)}
		}
		s.dropping = in.id
		return out.err == nil, s
	case "dropped":
		return false, s
	}
	if !live {
		return got == reason(table.ErrNoTable), s
	}
	switch in.method {
	case "get":
		if c := s.cells[in.key]; !c.there {
			return got == reason(table.ErrNoEntity), s
		}
		if out.err != nil {
			return false, s
		}
		return s.readCell(in.key, out.cells[in.key])
	case "scan":
		if out.err != nil {
			return false, s
		}
		ok := true
		for i := 0; i < len(universe) && ok; i++ {
			ok, s = s.readCell(i, out.cells[i])
		}
		return ok, s
	}
	return l.commit(s, in.mutations, out)
}

// commit applies the mutations with [table.Apply].
func (l laws) commit(s lifeOf, m []table.Mutation, out answer) (bool, lifeOf) {
	next := s
	for i, one := range m {
		k := position(one.Key)
		c := &next.cells[k]
		row, err := table.Apply(c.row(universe[k]), one, out.ticks)
		if err != nil {
			return reason(out.err) == refusedText(i, err), s
		}
		var floor edm.Ticks
		if l.acrossDeletes || c.there {
			floor = c.highest
		}
		switch {
		case out.ticks == unsettled:
			*c = cell{highest: floor}
		case out.err == nil && out.ticks <= floor:
			return false, s // the Timestamps of a key must increase
		default:
			*c = cell{highest: out.ticks}
		}
		if row != nil {
			c.there, c.ticks, c.nonce, c.properties = true, row.Timestamp, row.Nonce, canonical(row.Properties)
		}
	}
	return out.err == nil, next
}

func same(a, b cell) bool {
	a.highest, b.highest = 0, 0
	return a == b
}

// canonical sorts properties into the order in which the clients write them, because stores need not keep the order.
func canonical(p edm.Properties) string {
	var out edm.Properties
	for _, name := range []string{"v", "w"} {
		if v, ok := p.Lookup(name); ok {
			out = edm.AppendProperty(out, name, v)
		}
	}
	if len(out) != len(p) {
		return string(p)
	}
	return string(out)
}

// dropped returns the cells of a table after a drop. The entities are gone, but each cell keeps the highest Timestamp
// of its key.
func dropped(cells [len(universe)]cell) [len(universe)]cell {
	for i := range cells {
		cells[i] = cell{highest: cells[i].highest}
	}
	return cells
}

func position(k []byte) int { return slices.Index(universe[:], string(k)) }

func cellOf(r table.Row) cell {
	return cell{there: true, ticks: r.Timestamp, nonce: r.Nonce, properties: canonical(r.Properties)}
}

func describeStep(in step, out answer) string {
	result := reason(out.err)
	switch in.method {
	case "get":
		if out.err == nil {
			result = formatRow(*out.cells[in.key].row(universe[in.key]))
		}
		return fmt.Sprintf("get %s → %s", showKey([]byte(universe[in.key])), result)
	case "scan":
		if out.err == nil {
			result = ""
			for i, c := range out.cells {
				if c.there {
					result += formatRow(*c.row(universe[i])) + "; "
				}
			}
		}
		return "scan → " + result
	case "commit":
		return fmt.Sprintf("commit %s → %s @%d", describe(in.mutations), result, out.ticks)
	}
	return fmt.Sprintf("%s %s → %s %s", in.method, in.revision, result, out.revision)
}
