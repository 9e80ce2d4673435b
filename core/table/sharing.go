package table

import (
	"context"
	"encoding/binary"

	"edgetable/core/edm"
)

// Upkeep is the state of one pass of upkeep over a table: it removes the entities that have expired
// by a rule in the table's [Traits]. In a new Upkeep, only Table is set, and the pass begins at the
// start of the table.
type Upkeep struct {
	Table   Name
	Removed int // number of entities removed so far
	// The duration Behind is the longest delay of a removal in this pass. The delay starts when
	// three conditions are met: the entity has expired, withdrawing the rule can no longer make it
	// visible again, and the pass is due.
	Behind edm.Ticks

	incarnation Incarnation
	from        []byte
	began       edm.Ticks
	left        bool // set if the removal of an expired entity failed
	scanned     int  // number of bytes examined

	due   edm.Ticks // with [Sharing]: until this instant, no other program may resume the pass
	owing edm.Ticks // with [Sharing]: the instant at which this pass was due
}

// Sharing is a [Store] that several programs use at once. In a pass of upkeep, a program removes the
// expired entities of a table. Only one program at a time makes a pass over a table. The store keeps
// the progress of the pass, so that another program can resume the pass.
type Sharing interface {
	// ReadUpkeep returns the instant and the state that SetUpkeep stored for a table, or zero
	// values.
	ReadUpkeep(ctx context.Context, t RecordKey) (due edm.Ticks, state []byte, err error)
	// SetUpkeep stores a new instant and state, but only if the stored instant equals the instant in
	// the parameter was. The state has at most 1 KiB plus the length of the longest key.
	SetUpkeep(ctx context.Context, t RecordKey, was, due edm.Ticks, state []byte) (set bool, err error)
	// RestUpkeep returns how long to wait between a pass that examined this many bytes and the next
	// pass.
	RestUpkeep(scanned int) edm.Ticks
}

// upkeepTurn is how long a program may go without storing progress before another program may resume
// its pass.
const upkeepTurn = 300 * edm.TicksPerSecond

// TakeUpkeep returns a pass of upkeep over a table. In such a pass, a program removes the expired
// entities of the table. The result taken is false if no pass is due, or if another program is
// making the pass.
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

// keepUpkeep stores the progress of a pass. It returns true if the pass is done or if another
// program has taken the pass over.
func (s *Service) keepUpkeep(ctx context.Context, u *Upkeep, done bool) (bool, error) {
	shared, ok := As[Sharing](s.store)
	if !ok || u.due == 0 {
		return done, nil
	}
	due, state := s.now()+upkeepTurn, u.state()
	if done {
		due, state = s.now()+shared.RestUpkeep(u.scanned), nil
	}
	due = max(due, u.due+1) // SetUpkeep detects changes by the stored instant, so a new instant must differ from all earlier ones
	kept, err := shared.SetUpkeep(ctx, u.Table.Key(), u.due, due, state)
	u.due = due
	return done || !kept, err
}

// state encodes the progress of the pass, so that another program can resume the pass.
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

// parse sets the progress of the pass from b, the result of an earlier u.state(). If b contains no
// progress, the pass begins at the start of the table.
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
