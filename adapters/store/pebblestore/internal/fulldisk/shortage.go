package fulldisk

// retry runs a file operation. While space, a descriptor or the data directory is missing, it removes the reserve file
// or waits, and then tries again.
func (d *Disk) retry(do func() error) error {
	err := d.retryWithReserve(do)
	if !Scarce(err) {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	waits := false
	for Scarce(err) {
		if NoDescriptor(err) || isGoneError(err) || !d.release() {
			if !waits { // before the disk counts as full: AdmitDelete accepts deletes on a full disk, unless an operation waits
				waits = true
				d.waiting.Add(1)
				defer d.endWait()
			}
			switch {
			case NoDescriptor(err):
				d.recordNoDescriptor(err)
			case isGoneError(err):
				d.updateGone()
			default:
				d.setFull()
			}
			d.stall() // last: whoever sees the closed channel must also see what is missing
			if d.closing {
				return err
			}
			again := d.again
			d.mu.Unlock()
			<-again
			d.mu.Lock()
		}
		d.mu.Unlock()
		err = d.retryWithReserve(do)
		d.mu.Lock()
	}
	return err
}

// stall closes the channel of [Disk.Stalled]. d.mu must be held.
func (d *Disk) stall() {
	select {
	case <-d.stuck:
	default:
		close(d.stuck)
	}
}

func (d *Disk) endWait() {
	if d.waiting.Add(-1) == 0 {
		d.stuck = make(chan struct{})
	}
}

// Waiting reports whether file operations wait for space or for a file descriptor.
func (d *Disk) Waiting() bool { return d != nil && d.waiting.Load() > 0 }

// Stalled returns a channel that is closed while file operations wait for space or for a file descriptor.
func (d *Disk) Stalled() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stuck
}
