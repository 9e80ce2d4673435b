package fulldisk

import (
	"maps"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// compactions is what the Disk knows of those of Pebble.
type compactions struct {
	outputs map[string]*atomic.Int64 // sizes of the files that they write, by their path

	starved   int64 // free bytes when one failed for want of space; 0: the last one succeeded
	starvedAt time.Time
	// forgetAfter is the time after which the next attempt of one that failed has begun, if
	// Pebble still wants it.
	forgetAfter time.Duration

	running int
	stalls  bool // Pebble makes writes wait for them
	counted bool // such a stall counts as waiting
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
	d.compactions.starvedAt = time.Now()
	d.compactions.starved = max(1, min(int64(u.AvailBytes), d.reserve.size/4))
	for size := range maps.Values(d.compactions.outputs) {
		d.compactions.starved += size.Load()
	}
	d.setFull()
	d.countStall()
}

// output notes that a compaction writes a file, and returns its size, to be kept.
func (d *Disk) output(path string) *atomic.Int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.compactions.outputs[path] = new(atomic.Int64)
	return d.compactions.outputs[path]
}

// outputEnds notes that a file is in use, or is removed.
func (d *Disk) outputEnds(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.compactions.outputs, path)
}

// Compacting notes that a compaction begins, or ends.
func (d *Disk) Compacting(begins bool) {
	if d == nil {
		return // in memory
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if begins {
		d.compactions.running++
	} else {
		d.compactions.running--
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
	d.compactions.starved = 0
	d.countStall()
}

// Stall notes whether Pebble lets writes wait for flushes and compactions.
func (d *Disk) Stall(now bool) {
	if d == nil {
		return // in memory
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.compactions.stalls = now
	d.countStall()
}

// countStall counts a stall as waiting for space if compactions have none.
func (d *Disk) countStall() {
	switch counts := d.compactions.stalls && d.compactions.starved > 0; {
	case counts && !d.compactions.counted:
		d.beginWait()
	case !counts && d.compactions.counted:
		d.endWait()
	default:
		return
	}
	d.compactions.counted = !d.compactions.counted
}
