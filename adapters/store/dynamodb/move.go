package dynamodb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

// What reads and writes do with a table that is being moved.

// errUnsettled: the copy does not have yet, or no longer, what was read.
var errUnsettled = errors.New("table is moving")

// errSealed: nothing is written now.
var errSealed = fmt.Errorf("%w: the table is about to move to other buckets", table.ErrBusy)

// reading calls do with where a table is until what it read stands.
func (s *Store) reading(ctx context.Context, name table.RecordKey, do func(context.Context, *lease) error) error {
	for n := 0; ; n++ {
		l, err := s.live(ctx, name)
		if err != nil {
			return err
		}
		switch err := do(ctx, &l); {
		case errors.Is(err, errUnsettled):
			if !s.unseal(ctx, name, &l) && !s.pause(ctx, n) {
				return fmt.Errorf("%w: %w", table.ErrBusy, err)
			}
			continue
		case err != nil && !errors.Is(err, table.ErrNoEntity):
			return err
		case l.move.seal == last:
			return err
		default:
			now, late := s.stands(ctx, name, &l)
			if now == stands {
				return err
			}
			if late != nil {
				return late
			}
		}
	}
}

// find reads an entity with its chunks; nil is none.
//
// While the entities are compared for the last time, a write that was frozen since
// before the seal may still arrive, behind the comparison: nobody will see it
// after the move, so nobody may see it now. What counts is what both sides have.
// The run copies an entity on the condition that it is there, so what the one has
// and then the other was there, and stays.
func (s *Store) find(ctx context.Context, l *lease, k []byte, c table.Consistency) (*stored, error) {
	if l.move.seal != last {
		return s.entity(ctx, l.life, k, c)
	}
	it, err := s.getItem(ctx, keyOf(l.hash(kindEntity, l.bucket(k)), k), table.Strong)
	if err != nil {
		return nil, err
	}
	e, err := s.entity(ctx, l.move.target, k, table.Strong)
	if err != nil {
		return nil, err
	}
	same := it == nil && e == nil
	if it != nil && e != nil {
		source, err := readEntity(it)
		if err != nil {
			return nil, err
		}
		same = source.Timestamp == e.Timestamp && source.Nonce == e.Nonce
	}
	if !same {
		return nil, errUnsettled
	}
	return e, nil
}

// page reads a page. During the last comparison it ends where the two sides begin
// to differ.
func (s *Store) page(ctx context.Context, l *lease, r table.ScanRequest) (table.Page, error) {
	if l.move.seal != last {
		return s.scan(ctx, l.life, r)
	}
	r.Consistency = table.Strong
	source, err := s.scan(ctx, l.life, r)
	if err != nil {
		return table.Page{}, err
	}
	page, err := s.scan(ctx, l.move.target, r)
	if err != nil {
		return table.Page{}, err
	}
	if before(source.Next, page.Next) {
		page.Next = source.Next
	}
	for i := range max(len(source.Rows), len(page.Rows)) {
		if i < len(source.Rows) && i < len(page.Rows) && same(&source.Rows[i], &page.Rows[i]) {
			continue
		}
		for _, rows := range [][]table.Row{source.Rows, page.Rows} {
			if i < len(rows) && before(rows[i].Key, page.Next) {
				page.Next = rows[i].Key
			}
		}
		break
	}
	if page.Next != nil && bytes.Compare(page.Next, r.Ranges[0].Start) <= 0 {
		return table.Page{}, errUnsettled
	}
	n := len(page.Rows)
	for n > 0 && page.Next != nil && bytes.Compare(page.Rows[n-1].Key, page.Next) >= 0 {
		n--
	}
	page.Rows = page.Rows[:n]
	return page, nil
}

// before orders positions of pages; nil is the end.
func before(a, b []byte) bool { return a != nil && (b == nil || bytes.Compare(a, b) < 0) }

func same(a, b *table.Row) bool {
	return bytes.Equal(a.Key, b.Key) && a.Timestamp == b.Timestamp && a.Nonce == b.Nonce
}

// writable is live for a write.
func (s *Store) writable(ctx context.Context, name table.RecordKey) (lease, error) {
	for {
		l, err := s.live(ctx, name)
		if err != nil || l.move.seal == open {
			return l, err
		}
		if !s.unseal(ctx, name, &l) {
			return lease{}, errSealed
		}
	}
}

// unseal lifts a seal if the run that set it has shown no sign of life for long,
// as far as those know whom it keeps waiting.
func (s *Store) unseal(ctx context.Context, name table.RecordKey, l *lease) bool {
	state := l.move.owner + "/" + strconv.Itoa(l.move.beat)
	return s.seals.unchanged(name.String(), state, s.elapsed()) >= silence && s.lift(ctx, name, &l.move) == nil
}

// lift ends a seal, and with it the right of the run that set it. What it copied
// stays for the next.
func (s *Store) lift(ctx context.Context, name table.RecordKey, m *move) error {
	c := newChange()
	c.condition.compare(attrOwner, " = ", ":q", str(m.owner))
	c.condition.write(" AND ")
	c.condition.compare(attrBeat, " = ", ":y", num(m.beat))
	c.update.remove(attrSeal, attrOwner, attrBeat)
	return s.repeat(ctx, func(ctx context.Context) error { return s.updateRecord(ctx, name, c) })
}
