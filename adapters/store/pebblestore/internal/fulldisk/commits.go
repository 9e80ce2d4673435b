package fulldisk

import (
	"slices"
	"sync/atomic"

	"edgetable/core/table"
)

// commits counts the bytes of commits on their way to the log. A small disk is filled between two looks of Measure, so
// commits look at it themselves.
type commits struct {
	inFlight atomic.Int64 // bytes of commits that began and have not ended
	largest  atomic.Int64 // bytes of the largest commit so far
	unlooked atomic.Int64 // bytes that commits may still write before one looks at the disk
}

// refuseBelow returns the free bytes below which writes are refused: room to flush the memtables, and the one commit
// that may be larger than they are.
func (d *Disk) refuseBelow() int64 {
	if d.reserve.size == 0 {
		return 0
	}
	return d.reserve.size/4 + d.commits.largest.Load()
}

// acceptAbove returns the free bytes above which writes are accepted again.
func (d *Disk) acceptAbove() int64 { return d.refuseBelow() + d.reserve.size/4 }

// Begin counts a commit of n bytes, which the caller is about to write to the log. Unless the mutations only remove
// entities, it returns table.ErrFull, and counts nothing, if the disk has no room for the commit and for those in
// flight: each takes its bytes in the log and, until that is removed, in a data file.
func (d *Disk) Begin(n int, m []table.Mutation) error {
	if d == nil {
		return nil
	}
	c, size := &d.commits, int64(n)
	inFlight := c.inFlight.Add(size)
	if d.plenty.Load() || d.reserve.size == 0 || c.unlooked.Add(-size) >= 0 || removes(m) {
		return nil
	}
	for largest := c.largest.Load(); largest < size && !c.largest.CompareAndSwap(largest, size); {
		largest = c.largest.Load()
	}
	u, err := d.fs.GetDiskUsage(d.dir)
	if free := int64(u.AvailBytes); err == nil && u.TotalBytes > 0 && free < d.refuseBelow()+2*inFlight {
		c.inFlight.Add(-size)
		d.refused.Add(1)
		d.mu.Lock()
		defer d.mu.Unlock()
		if free < d.acceptAbove() {
			d.setFull()
		} else {
			d.log.noRoom(size, free) // a smaller one has room
		}
		return table.ErrFull
	}
	c.unlooked.Store(min(d.reserve.size/64, lookEvery))
	return nil
}

// End counts a commit of n bytes as written.
func (d *Disk) End(n int) {
	if d != nil {
		d.commits.inFlight.Add(-int64(n))
	}
}

// removes reports whether mutations only remove entities.
func removes(m []table.Mutation) bool {
	return !slices.ContainsFunc(m, func(m table.Mutation) bool { return !m.Kind.Removes() })
}

// Admit refuses a write if there is no space for it: any while an operation
// waits, else those that add data.
func (d *Disk) Admit(m []table.Mutation) error {
	if d == nil || !d.full.Load() && !d.descriptors.Load() {
		return nil
	}
	return d.AdmitDelete(removes(m))
}

// AdmitDelete is Admit for a write that only deletes, or one that adds data.
func (d *Disk) AdmitDelete(deletes bool) error {
	switch {
	case d == nil:
		return nil
	case d.descriptors.Load() && d.waiting.Load() > 0:
		return errNoDescriptor
	case !d.full.Load(), deletes && d.opened.Load() && d.waiting.Load() == 0:
		return nil
	}
	d.refused.Add(1)
	return table.ErrFull
}
