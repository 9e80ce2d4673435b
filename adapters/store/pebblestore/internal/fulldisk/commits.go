package fulldisk

import (
	"slices"
	"sync/atomic"

	"edgetable/core/table"
)

// commits counts the bytes of commits in flight to the log. Between two measurements, commits can fill a small disk,
// so they measure it themselves.
type commits struct {
	inFlight atomic.Int64 // bytes of commits in flight
	largest  atomic.Int64 // size of the largest commit so far
	unlooked atomic.Int64 // bytes that commits may still write before one measures the disk
}

// refuseBelow returns the free bytes below which writes are refused: enough to flush the memtables, and for one
// commit, which may be larger than the memtables.
func (d *Disk) refuseBelow() int64 {
	if d.reserve.size == 0 {
		return 0
	}
	return d.reserve.size/4 + d.commits.largest.Load()
}

// acceptAbove returns the free bytes above which writes are accepted again.
func (d *Disk) acceptAbove() int64 { return d.refuseBelow() + d.reserve.size/4 }

// Begin counts a commit of n bytes, which the caller is about to write to the log. If the disk has no space for this
// commit and those in flight, Begin counts nothing and returns table.ErrFull, unless the mutations only remove
// entities. Each commit takes its bytes in the log and, until the log is removed, also in a data file.
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
			d.log.noRoom(size, free) // a smaller write may have space
		}
		return table.ErrFull
	}
	c.unlooked.Store(d.untilLook())
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

// Admit refuses a write if there is no space for it. While an operation waits, it refuses every write, otherwise
// those that add data.
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
