package table

import (
	"context"
	"encoding/binary"

	"edgetable/core/edm"
)

// Upkeep is one pass over a table that removes what has ended by its [Traits]. The zero
// Upkeep of a table begins at its start.
type Upkeep struct {
	Table   Name
	Removed int // entities, so far
	// Behind is for how long one of them could have been removed before, at most: it had ended,
	// its rule could not be withdrawn any more, and the pass was due.
	Behind edm.Ticks

	incarnation Incarnation
	from        []byte
	began       edm.Ticks
	left        bool // some could not be removed
	scanned     int  // bytes

	due   edm.Ticks // of a store that several programs share, see [Sharing]
	owing edm.Ticks // since when the pass was due there
}

// Sharing is a [Store] that several programs serve, of which one at a time does the upkeep
// of a table. The store keeps how far it is, so that another program goes on there.
type Sharing interface {
	// ReadUpkeep returns what SetUpkeep kept for a table, zero at first.
	ReadUpkeep(ctx context.Context, t RecordKey) (due edm.Ticks, state []byte, err error)
	// SetUpkeep keeps an instant and a state of at most 1 KiB and the longest key, if the
	// instant that is kept is still was.
	SetUpkeep(ctx context.Context, t RecordKey, was, due edm.Ticks, state []byte) (set bool, err error)
	// RestUpkeep returns how long a table rests after a pass that examined so many bytes.
	RestUpkeep(scanned int) edm.Ticks
}

// upkeepTurn is how long a program has the upkeep of a table without a sign of life.
const upkeepTurn = 300 * edm.TicksPerSecond

// TakeUpkeep returns a pass over a table, if one is due and no other program makes it.
func (s *Service) TakeUpkeep(ctx context.Context, n Name) (u Upkeep, taken bool, err error) {
	u.Table = n
	shared, ok := As[Sharing](s.store)
	if !ok {
		return u, true, nil
	}
	now := s.now()
	due, state, err := shared.ReadUpkeep(ctx, n.Key())
	if err != nil || due > now {
		return u, false, err
	}
	u.parse(state)
	u.due, u.owing = now+upkeepTurn, due
	taken, err = shared.SetUpkeep(ctx, n.Key(), due, u.due, state)
	return u, taken, err
}

// keepUpkeep keeps how far a pass is. It is done also if another program makes it now.
func (s *Service) keepUpkeep(ctx context.Context, u *Upkeep, done bool) (bool, error) {
	shared, ok := As[Sharing](s.store)
	if !ok || u.due == 0 {
		return done, nil
	}
	due, state := s.now()+upkeepTurn, u.state()
	if done {
		due, state = s.now()+shared.RestUpkeep(u.scanned), nil
	}
	due = max(due, u.due+1) // the instant names the turn
	kept, err := shared.SetUpkeep(ctx, u.Table.Key(), u.due, due, state)
	u.due = due
	return done || !kept, err
}

// state is what a pass has to know to go on.
func (u *Upkeep) state() []byte {
	b := append(make([]byte, 0, len(u.incarnation)+17+len(u.from)), u.incarnation[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(u.began))
	b = binary.BigEndian.AppendUint64(b, uint64(u.scanned))
	if u.left {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	return append(b, u.from...)
}

// parse is the inverse of state. A pass without a state begins at the start.
func (u *Upkeep) parse(b []byte) {
	n := len(u.incarnation)
	if len(b) <= n+17 {
		return
	}
	copy(u.incarnation[:], b)
	u.began = edm.Ticks(binary.BigEndian.Uint64(b[n:]))
	u.scanned = int(binary.BigEndian.Uint64(b[n+8:]))
	u.left = b[n+16] != 0
	u.from = append([]byte(nil), b[n+17:]...)
}
