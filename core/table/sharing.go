package table

import (
	"context"
	"encoding/binary"

	"edgetable/core/edm"
)

// Upkeep is one pass over a table that removes entities that have ended by the rule of expiry in
// its [Traits]. A new Upkeep has only Table set and begins at the start of the table.
type Upkeep struct {
	Table   Name
	Removed int // number of entities removed so far
	// Behind is the longest delay of a removal in this pass. The delay of a removal counts from the
	// moment when the entity had ended, its rule could no longer be withdrawn, and the pass was due.
	Behind edm.Ticks

	incarnation Incarnation
	from        []byte
	began       edm.Ticks
	left        bool // whether some entities could not be removed
	scanned     int  // bytes examined

	due   edm.Ticks // the instant until which this program has the pass; identifies the pass in a store with [Sharing]
	owing edm.Ticks // when this pass was due, in a store with [Sharing]
}

// Sharing is a [Store] that several programs serve. One program at a time does the upkeep of a
// table. The store keeps the progress, so that another program can resume the pass.
type Sharing interface {
	// ReadUpkeep returns what SetUpkeep stored for a table, or zero values.
	ReadUpkeep(ctx context.Context, t RecordKey) (due edm.Ticks, state []byte, err error)
	// SetUpkeep replaces the stored instant and state by due and state, but only if the stored
	// instant equals was. The state has at most 1 KiB plus the longest key.
	SetUpkeep(ctx context.Context, t RecordKey, was, due edm.Ticks, state []byte) (set bool, err error)
	// RestUpkeep returns the time from a pass that examined this many bytes to the next pass.
	RestUpkeep(scanned int) edm.Ticks
}

// upkeepTurn is the time after which another program may resume a pass, if the program that makes
// the pass stores no progress.
const upkeepTurn = 300 * edm.TicksPerSecond

// TakeUpkeep returns a pass over a table, if one is due and no other program is making it.
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

// keepUpkeep stores the progress of a pass. If another program has taken over the pass, keepUpkeep
// reports it as done.
func (s *Service) keepUpkeep(ctx context.Context, u *Upkeep, done bool) (bool, error) {
	shared, ok := As[Sharing](s.store)
	if !ok || u.due == 0 {
		return done, nil
	}
	due, state := s.now()+upkeepTurn, u.state()
	if done {
		due, state = s.now()+shared.RestUpkeep(u.scanned), nil
	}
	due = max(due, u.due+1) // the instant identifies the state of the pass, so it must increase
	kept, err := shared.SetUpkeep(ctx, u.Table.Key(), u.due, due, state)
	u.due = due
	return done || !kept, err
}

// state encodes the progress of a pass, so that another program can resume it.
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

// parse is the inverse of state. If b has no state, the pass begins at the start of the table.
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
