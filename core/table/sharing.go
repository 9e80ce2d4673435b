package table

import (
	"context"
	"encoding/binary"

	"edgetable/core/edm"
)

// Upkeep is the state of one pass of upkeep, which removes the entities of a table that have expired under a rule in
// the table's [Traits]. To begin a pass, set only Table.
type Upkeep struct {
	Table   Name
	Removed int // number of entities removed so far
	// Behind is the longest delay of a removal in this pass. A delay begins when the pass is due and the entity has
	// expired for good, even if the rule is withdrawn.
	Behind edm.Ticks

	incarnation Incarnation
	from        []byte
	began       edm.Ticks
	left        bool // whether the removal of an expired entity failed
	scanned     int

	due   edm.Ticks // instant before which no other program may resume the pass; used only with [Sharing]
	owing edm.Ticks // instant at which the pass was due; used only with [Sharing]
}

// Sharing is a [Store] that several programs use at once. One program at a time runs a pass of upkeep over a table.
// Another can resume the pass, because the store holds its progress.
type Sharing interface {
	// ReadUpkeep returns the instant and state that SetUpkeep stored for a table, or zero values.
	ReadUpkeep(ctx context.Context, t RecordKey) (due edm.Ticks, state []byte, err error)
	// SetUpkeep stores an instant and a state if the stored instant still equals oldDue. The result reports whether it
	// stored both. The state has at most 1 KiB plus the length of the longest key.
	SetUpkeep(ctx context.Context, t RecordKey, oldDue, due edm.Ticks, state []byte) (set bool, err error)
	// RestUpkeep returns the pause before the next pass, after a pass that examined the given number of bytes.
	RestUpkeep(scanned int) edm.Ticks
}

// upkeepTurn is how long a pass may make no progress before another program may resume it.
const upkeepTurn = 300 * edm.TicksPerSecond

// TakeUpkeep acquires a pass of upkeep over a table, in which the caller removes the table's expired entities. acquired
// is false if no pass is due, or if another program is running it.
func (s *Service) TakeUpkeep(ctx context.Context, n Name) (u Upkeep, acquired bool, err error) {
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
	acquired, err = shared.SetUpkeep(ctx, n.Key(), due, u.due, state)
	return u, acquired, err
}

// keepUpkeep stores the progress of a pass. It reports whether the pass is done or was taken over by another program.
func (s *Service) keepUpkeep(ctx context.Context, u *Upkeep, done bool) (bool, error) {
	shared, ok := As[Sharing](s.store)
	if !ok || u.due == 0 {
		return done, nil
	}
	due, state := s.now()+upkeepTurn, u.state()
	if done {
		due, state = s.now()+shared.RestUpkeep(u.scanned), nil
	}
	due = max(due, u.due+1) // SetUpkeep detects changes by the stored instant, so each instant must be new
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

// parse decodes the progress of a pass, as encoded by the method state. If b contains no progress, the pass begins at
// the start of the table.
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
