package fulldisk

import (
	"slices"
	"sync/atomic"

	"edgetable/core/table"
)

// commits counts the bytes of commits that are being written to the log. Commits can fill a small disk between two
// measurements of the timer, so they measure the free space too.
type commits struct {
	inFlight atomic.Int64 // bytes of commits that are being written to the log
	largest  atomic.Int64 // size of the largest commit so far
	unlooked atomic.Int64 // bytes that commits may still write before a commit must measure the free space
}

// refuseBelow returns the number of free bytes below which writes are refused. This space is enough to flush the
// memtables and to write the largest commit.
func (d *Disk) refuseBelow() int64 {
	if d.reserve.size == 0 {
		return 0
	}
	return d.reserve.size/4 + d.commits.largest.Load()
}

// acceptAbove returns the number of free bytes above which writes are accepted again.
func (d *Disk) acceptAbove() int64 { return d.refuseBelow() + d.reserve.size/4 }

// Begin counts a commit of n bytes, which the caller is about to write to the log. If the disk has no space for all
// counted commits, it returns table.ErrFull instead, unless the commit only removes entities.
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
	// A commit needs twice its size: its bytes are in the log and, until the log is removed, also in a data file.
	u, err := d.fs.GetDiskUsage(d.dir)
	if free := int64(u.AvailBytes); err == nil && u.TotalBytes > 0 && free < d.refuseBelow()+2*inFlight {
		c.inFlight.Add(-size)
		d.refused.Add(1)
		d.mu.Lock()
		defer d.mu.Unlock()
		if free < d.acceptAbove() {
			d.setFull()
		} else {
			d.log.noRoom(size, free) // refuse only this write, because there may be space for a smaller one
		}
		return table.ErrFull
	}
	c.unlooked.Store(d.untilLook())
	return nil
}

// End removes a commit of n bytes from the count. It must be called after the write of each commit that Begin has
// counted.
func (d *Disk) End(n int) {
	if d != nil {
		d.commits.inFlight.Add(-int64(n))
	}
}

// removes reports whether the mutations in m only remove entities.
func removes(m []table.Mutation) bool {
	return !slices.ContainsFunc(m, func(m table.Mutation) bool { return !m.Kind.Removes() })
}

// Admit returns an error if a write must be refused. On a full disk, only deletes are accepted. While a file operation
// waits, or the data directory is gone, no write is accepted.
func (d *Disk) Admit(m []table.Mutation) error {
	if d == nil || !d.full.Load() && !d.descriptors.Load() && !d.gone.Load() {
		return nil
	}
	return d.AdmitDelete(removes(m))
}

// AdmitDelete is like Admit. The parameter deletes is true if the write only deletes data.
func (d *Disk) AdmitDelete(deletes bool) error {
	switch {
	case d == nil:
		return nil
	case d.gone.Load():
		return d.CheckDirectory()
	case d.descriptors.Load() && d.waiting.Load() > 0:
		return errNoDescriptor
	case !d.full.Load(), deletes && d.opened.Load() && d.waiting.Load() == 0:
		return nil
	}
	d.refused.Add(1)
	return table.ErrFull
}
