package fulldisk

import (
	"maps"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// compactions is a Disk's data about the compactions of Pebble.
type compactions struct {
	outputs map[string]*atomic.Int64 // sizes of the files that compactions are writing, by path

	starved   int64 // free bytes when a compaction last failed for lack of space; 0 if the last compaction succeeded
	starvedAt time.Time
	// forgetAfter is the time within which Pebble retries a failed compaction. If there is no retry by then, Pebble no
	// longer needs the compaction.
	forgetAfter time.Duration

	running int
	stalls  bool // whether Pebble makes writes wait for compactions
	counted bool // whether Disk.waiting counts the current stall
}

// Starve is called when a compaction has failed for lack of space. It makes the disk refuse writes, because Pebble would soon make writes wait.
func (d *Disk) Starve() {
	if d == nil {
		return // a store in memory has a nil Disk
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	u, _ := d.fs.GetDiskUsage(d.dir)
	// The removal of the failed compaction's files frees space, but not enough for another attempt. So starved includes
	// the sizes of these files.
	d.compactions.starvedAt = time.Now()
	d.compactions.starved = max(1, min(int64(u.AvailBytes), d.reserve.size/4))
	for size := range maps.Values(d.compactions.outputs) {
		d.compactions.starved += size.Load()
	}
	d.setFull()
	d.countStall()
}

// output returns a new counter for the size of a file that a compaction is about to write.
func (d *Disk) output(path string) *atomic.Int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.compactions.outputs[path] = new(atomic.Int64)
	return d.compactions.outputs[path]
}

// outputEnds removes the counter of a file that a compaction has finished or removed.
func (d *Disk) outputEnds(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.compactions.outputs, path)
}

// Compacting is called when a compaction begins or ends.
func (d *Disk) Compacting(active bool) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if active {
		d.compactions.running++
	} else {
		d.compactions.running--
	}
}

// Compacted is called when a compaction has succeeded and has written the given files.
func (d *Disk) Compacted(files []pebble.TableInfo) {
	if d == nil {
		return
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

// Stall records whether Pebble currently makes writes wait for flushes and compactions.
func (d *Disk) Stall(now bool) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.compactions.stalls = now
	d.countStall()
}

// countStall counts a write stall of Pebble as a wait for space, but only while compactions fail for lack of space.
func (d *Disk) countStall() {
	switch counts := d.compactions.stalls && d.compactions.starved > 0; {
	case counts && !d.compactions.counted:
		d.waiting.Add(1)
		d.stall()
	case !counts && d.compactions.counted:
		d.endWait()
	default:
		return
	}
	d.compactions.counted = !d.compactions.counted
}
