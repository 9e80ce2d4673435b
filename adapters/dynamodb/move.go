package dynamodb

import (
	"strconv"
	"time"

	"edgetable/core/table"
)

// move is what the record of a table says of a [Store.Rebucket] that is not done.
type move struct {
	target life   // where the copy is; zero: there is none
	owner  string // the run that may write it, "" is nobody
	seal   seal
	beat   int // of the run that sealed it
}

func (m *move) none() bool { return m.target == (life{}) }

// origin is the incarnation that a table was created with, however often it has
// moved: by it a table that moved is told from one that was dropped and created.
func (r *record) origin(it item) table.Incarnation {
	i := r.life.incarnation
	copy(i[:], binaryOf(it[attrOrigin]))
	return i
}

// seal is what may be done with a table while it moves.
type seal uint8

const (
	// open: everything.
	open seal = iota
	// closing: nothing may be written, and those who do not know it yet are waited
	// for. What they write is part of the table.
	closing
	// last: the entities are compared for the last time. What is written now, by
	// whoever was frozen since before the seal, is not part of the table, and was
	// not acknowledged either. See [Store.find].
	last
)

// silence is how long a run that sealed a table may show no sign of life before
// others lift the seal.
const silence = 30 * time.Second

func readMove(it item) (m move, err error) {
	id, ok := it[attrTarget]
	if !ok {
		return m, nil
	}
	spread, err := strconv.ParseUint(number(it[attrSpread]), 10, 16)
	if err != nil || spread == 0 || copy(m.target.incarnation[:], binaryOf(id)) != len(table.Incarnation{}) {
		return m, errItem
	}
	m.target.buckets = uint16(spread)
	m.owner = text(it[attrOwner])
	if a, ok := it[attrSeal]; ok {
		n, err := strconv.ParseUint(number(a), 10, 8)
		if err != nil || n < uint64(closing) || n > uint64(last) {
			return m, errItem
		}
		m.seal = seal(n)
		m.beat, _ = strconv.Atoi(number(it[attrBeat]))
	}
	return m, nil
}
