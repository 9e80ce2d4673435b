package answers

import (
	"bytes"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
)

// age contains the answers of a few seconds, which are forgotten together.
//
// It is an extendible hash table: the first bits of an id select a small table, and a full table is divided into two.
type age struct {
	begin, end edm.Ticks
	bits       uint
	tables     []*slots // small tables, indexed by the first bits of an id; several entries may point to the same table
	texts      [][]byte // answers other than the Timestamp of a write
	size       int      // bytes of the tables and texts
}

// slots is a small table for ids that begin with the same bits.
type slots struct {
	bits uint
	used int
	list []slot
}

// slot holds one answer; an id of 0 means that the slot is empty.
type slot struct {
	id uint64
	// result is the Timestamp in the answer to a write. A negative number refers to a text instead: -1 to texts[0], -2
	// to texts[1], and so on.
	result int64
}

const (
	leastSlots, mostSlots = 16, 128
	sizeOfSlot            = 16
	sizeOfSlots           = 32
	sizeOfText            = 16  // memory that a text needs besides its bytes
	comparedTexts         = 32  // maximum number of stored texts with which a new text is compared; most refusals are equal and are stored once
	sizeOfAge             = 128 // memory that an age needs besides its tables and texts
	maxBits               = 20  // maximum of age.bits, which random ids do not reach; a full table then grows and is not divided
)

// storedID returns the id as slots store it. It replaces the id 0, because 0 means that a slot is empty.
func storedID(id uint64) uint64 { return max(id, 1) }

// find returns the slot with the given id. If there is none, it returns the empty slot in which the id can be stored.
func (s *slots) find(id uint64) *slot {
	for i := id; ; i++ {
		if p := &s.list[i&uint64(len(s.list)-1)]; p.id == id || p.id == 0 {
			return p
		}
	}
}

func (s *slots) full() bool { return s.used*8 >= len(s.list)*7 }

func (s *slots) put(one slot) {
	s.used++
	*s.find(one.id) = one
}

func (g *age) tableOf(id uint64) *slots { return g.tables[id>>(64-g.bits)] }

func (g *age) find(id uint64) (answer []byte, ok bool) {
	if len(g.tables) == 0 {
		return nil, false
	}
	switch p := g.tableOf(storedID(id)).find(storedID(id)); {
	case p.id == 0:
		return nil, false
	case p.result >= 0:
		return message.DoneTicks(nil, edm.Ticks(p.result)), true
	default:
		return g.texts[-1-p.result], true
	}
}

func (g *age) put(id uint64, answer []byte) {
	if len(g.tables) == 0 {
		g.tables = []*slots{{list: make([]slot, leastSlots)}}
		g.size = sizeOfAge + sizeOfSlots + leastSlots*sizeOfSlot
	}
	for id = storedID(id); g.tableOf(id).full(); {
		g.grow(id)
	}
	g.tableOf(id).put(slot{id, g.form(answer)})
}

// grow enlarges the table for an id: it doubles the table or divides it into two.
func (g *age) grow(id uint64) {
	old := g.tableOf(id)
	if len(old.list) < mostSlots || old.bits == maxBits {
		larger := &slots{bits: old.bits, list: make([]slot, 2*len(old.list))}
		g.size += len(old.list) * sizeOfSlot
		g.move(old, larger, larger)
		return
	}
	if old.bits == g.bits {
		twice := make([]*slots, 0, 2*len(g.tables))
		for _, s := range g.tables {
			twice = append(twice, s, s)
		}
		g.tables = twice
		g.bits++
		g.size += len(twice) * 4
	}
	g.size += sizeOfSlots + mostSlots*sizeOfSlot
	g.move(old, &slots{bits: old.bits + 1, list: make([]slot, mostSlots)}, &slots{bits: old.bits + 1, list: make([]slot, mostSlots)})
}

// move replaces a full table by two tables. One bit of each id determines its new table.
func (g *age) move(old, low, high *slots) {
	to := func(id uint64) *slots {
		if id<<old.bits>>63 == 0 {
			return low
		}
		return high
	}
	for i, s := range g.tables {
		if s == old {
			g.tables[i] = to(uint64(i) << (64 - g.bits))
		}
	}
	for _, one := range old.list {
		if one.id != 0 {
			to(one.id).put(one)
		}
	}
}

// form returns an answer in the form of the field slot.result.
func (g *age) form(answer []byte) int64 {
	if r, err := message.Result(answer); err == nil {
		if at := r.Ticks(); r.Done() && at >= 0 {
			return int64(at)
		}
	}
	for i, text := range g.texts[:min(len(g.texts), comparedTexts)] {
		if bytes.Equal(text, answer) {
			return -1 - int64(i)
		}
	}
	g.texts = append(g.texts, bytes.Clone(answer))
	g.size += sizeOfText + len(answer)
	return -int64(len(g.texts))
}
