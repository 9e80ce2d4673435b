package fulldisk

import (
	"maps"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// try does a file operation until it does not fail for want of space or of a file
// descriptor.
func (d *Disk) try(do func() error) error {
	err := d.spared(do)
	if !Scarce(err) {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	waits := false
	for Scarce(err) {
		if NoDescriptor(err) || !d.release() {
			if NoDescriptor(err) {
				d.lack(err)
			} else {
				d.setFull()
			}
			if d.closing {
				return err
			}
			if !waits {
				waits = true
				d.beginWait()
				defer d.endWait()
			}
			again := d.again
			d.mu.Unlock()
			<-again
			d.mu.Lock()
		}
		d.mu.Unlock()
		err = d.spared(do)
		d.mu.Lock()
	}
	return err
}

func (d *Disk) beginWait() {
	if d.waiting.Add(1) == 1 {
		close(d.stuck)
	}
}

func (d *Disk) endWait() {
	if d.waiting.Add(-1) == 0 {
		d.stuck = make(chan struct{})
	}
}

// Waiting reports whether operations wait.
func (d *Disk) Waiting() bool { return d != nil && d.waiting.Load() > 0 }

// Stalled returns a channel that is closed while operations wait for space.
func (d *Disk) Stalled() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stuck
}

// Starve notes that a compaction failed for want of space. Without compactions
// writes would soon have to wait.
func (d *Disk) Starve() {
	if d == nil {
		return // in memory
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	u, _ := d.fs.GetDiskUsage(d.dir)
	// What the compaction has written is free soon, and is not more space than before. What
	// is free above the bound at which it failed has come since.
	d.starvedAt = time.Now()
	d.starved = max(1, min(int64(u.AvailBytes), d.size/4))
	for size := range maps.Values(d.outputs) {
		d.starved += size.Load()
	}
	d.setFull()
	d.countStall()
}

// output notes that a compaction writes a file, and returns its size, to be kept.
func (d *Disk) output(path string) *atomic.Int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.outputs[path] = new(atomic.Int64)
	return d.outputs[path]
}

// outputEnds notes that a file is in use, or is removed.
func (d *Disk) outputEnds(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.outputs, path)
}

// Compacting notes that a compaction begins, or ends.
func (d *Disk) Compacting(begins bool) {
	if d == nil {
		return // in memory
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if begins {
		d.compacts++
	} else {
		d.compacts--
	}
}

// Compacted notes that a compaction succeeded, which wrote these files.
func (d *Disk) Compacted(files []pebble.TableInfo) {
	if d == nil {
		return // in memory
	}
	for _, f := range files {
		d.outputEnds(d.fs.PathJoin(d.dir, f.FileNum.String()+".sst"))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.feed()
}

func (d *Disk) feed() {
	d.starved = 0
	d.countStall()
}

// Stall notes whether Pebble lets writes wait for flushes and compactions.
func (d *Disk) Stall(now bool) {
	if d == nil {
		return // in memory
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stalls = now
	d.countStall()
}

// countStall counts a stall as waiting for space if compactions have none.
func (d *Disk) countStall() {
	switch counts := d.stalls && d.starved > 0; {
	case counts && !d.counted:
		d.beginWait()
	case !counts && d.counted:
		d.endWait()
	default:
		return
	}
	d.counted = !d.counted
}
