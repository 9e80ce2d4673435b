package fulldisk

import (
	"fmt"
	"time"
)

// notices is a logger for messages about the disk. It limits the rate of each kind of message. Disk.mu guards the
// fields.
type notices struct {
	logf func(format string, args ...any)
	dir  string

	warned time.Time // time of the last message that the disk is nearly full
	told   bool      // whether the last message about space was that the disk is full
	toldAt time.Time
	lackAt time.Time // time of the last message that no descriptor is free
	roomAt time.Time // time of the last message that there is no space for a write
}

const (
	tellEvery = time.Minute // minimum time between two messages of one kind
	warnEvery = time.Hour
)

// nearlyFull warns the operator that the store will refuse writes if the free space falls below a limit.
func (n *notices) nearlyFull(freeBytes, limit int64) {
	if time.Since(n.warned) >= warnEvery {
		n.warned = time.Now()
		n.logf("edgetable: the disk of %s is nearly full (%s free): writes will be refused below %s; free space", n.dir, show(freeBytes), show(limit))
	}
}

// mayTellFull reports whether a message about a full disk may be logged now. If not, a later measurement logs the
// message.
func (n *notices) mayTellFull() bool { return !n.told && time.Since(n.toldAt) >= tellEvery }

func (n *notices) isFull(free int64) {
	n.told, n.toldAt = true, time.Now()
	n.logf("edgetable: the disk of %s is full (%s free): writes are refused, and deletes too when no space at all is left; reads work; free space or enlarge the disk", n.dir, show(free))
}

// space tells the operator that the disk has space again, if the last message was that the disk is full. The parameter
// freeBytes is the number of free bytes.
func (n *notices) space(freeBytes int64) {
	if n.told {
		n.told = false
		n.logf("edgetable: the disk of %s has space again (%s free): writes are accepted", n.dir, show(freeBytes))
	}
}

func (n *notices) noRoom(size, free int64) {
	if time.Since(n.roomAt) >= tellEvery {
		n.roomAt = time.Now()
		n.logf("edgetable: the disk of %s has no room for a write of %s (%s free): the write is refused; free space", n.dir, show(size), show(free))
	}
}

func (n *notices) noDescriptor(err error) {
	if time.Since(n.lackAt) >= tellEvery {
		n.lackAt = time.Now()
		n.logf("edgetable: no file descriptor is free (%v): writes are refused, reads of open files continue; close files, or raise the limit (ulimit -n)", err)
	}
}

// reportMissing tells the operator that the data directory was removed or replaced, or that it is back.
func (n *notices) reportMissing(yes bool) {
	if !yes {
		n.logf("edgetable: the data directory %s is back: writes are accepted", n.dir)
		return
	}
	n.logf("edgetable: the data directory %s was removed or replaced while the server runs: writes are refused, reads of open files continue; put the directory back, or stop the server and restore a backup; if only its file LOCK was removed, start the server again", n.dir)
}

func show(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}
