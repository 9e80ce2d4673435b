package answers

import (
	"bytes"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
)

// age has the answers of some seconds, which are forgotten together. It is an extendible hash
// table: the first bits of an id choose a small table, which is divided when it is full. So an
// answer is found with one look, and no piece of memory is large.
type age struct {
	begin, end edm.Ticks
	bits       uint
	tables     []*slots // by the first bits; several places may have the same one
	texts      [][]byte // answers that are not the Timestamp of a write
	size       int      // bytes of all
}

// slots is a small table of the ids that have some first bits in common.
type slots struct {
	bits uint
	used int
	list []slot
}

// slot is a place for an answer; the id 0 is none.
type slot struct {
	id uint64
	// answer is the Timestamp of a write, or -1 minus the place of another answer in texts.
	answer int64
}

const (
	leastSlots, mostSlots = 16, 128
	sizeOfSlot            = 16
	sizeOfSlots           = 32
	sizeOfText            = 16  // in addition to its bytes
	comparedTexts         = 32  // nearly all refusals have one of few texts
	sizeOfAge             = 128 // without anything in it
	maxBits               = 20  // ids are random; were they not, an age would end
)

// seen is the id that is in slots.
func seen(id uint64) uint64 { return max(id, 1) }

// place is the slot of an id, or the empty one where it would be.
func (s *slots) place(id uint64) *slot {
	for i := id; ; i++ {
		if p := &s.list[i&uint64(len(s.list)-1)]; p.id == id || p.id == 0 {
			return p
		}
	}
}

func (s *slots) full() bool { return s.used*8 >= len(s.list)*7 }

func (s *slots) put(one slot) {
	s.used++
	*s.place(one.id) = one
}

// of is the table of an id.
func (g *age) of(id uint64) *slots { return g.tables[id>>(64-g.bits)] }

func (g *age) find(id uint64) (answer []byte, ok bool) {
	if len(g.tables) == 0 {
		return nil, false
	}
	switch p := g.of(seen(id)).place(seen(id)); {
	case p.id == 0:
		return nil, false
	case p.answer >= 0:
		return message.DoneTicks(nil, edm.Ticks(p.answer)), true
	default:
		return g.texts[-1-p.answer], true
	}
}

func (g *age) put(id uint64, answer []byte) {
	if len(g.tables) == 0 {
		g.tables = []*slots{{list: make([]slot, leastSlots)}}
		g.size = sizeOfAge + sizeOfSlots + leastSlots*sizeOfSlot
	}
	for id = seen(id); g.of(id).full(); {
		g.grow(id)
	}
	g.of(id).put(slot{id, g.form(answer)})
}

// grow makes room in the table of an id: it becomes twice as large, or two.
func (g *age) grow(id uint64) {
	old := g.of(id)
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

// move puts what a table has into others, by the bit that divides them, and these in its places.
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

// form is an answer as it is in a slot.
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
