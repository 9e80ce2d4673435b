// Package sample samples what an object is asked for, to divide it among two.
package sample

import (
	"bytes"

	"edgetable/core/edm"
	"edgetable/core/key"
)

const (
	window    = 30 * edm.TicksPerSecond
	seconds   = float64(window / edm.TicksPerSecond)
	samples   = 32
	maxSample = 256 // bytes of a PartitionKey in the sample
)

// Load is what an object knows of its requests.
type Load struct {
	Highest []byte // of the inserts since the object woke up

	begin         edm.Ticks // of this half of a minute
	busy          edm.Ticks // the end of the last one with an eighth of the requests at which the object splits
	requests      float64
	partitions    [][]byte // a sample of them
	at            []byte   // would have divided the half before best; nil: nothing would
	before, after int      // requests now on either side of it
	inserts       int      // of late
	atEnd         int      // of them, after all others
}

// Inserted counts an insert.
func (l *Load) Inserted(k []byte) {
	if l.inserts++; bytes.Compare(k, l.Highest) > 0 {
		l.atEnd++
		l.Highest = append(l.Highest[:0], k...)
	}
	if l.inserts >= 1000 {
		l.inserts, l.atEnd = l.inserts/2, l.atEnd/2
	}
}

// Grows reports whether inserts come at the end.
func (l *Load) Grows() bool { return l.inserts >= 16 && l.atEnd*10 >= l.inserts*9 }

// Visited counts a request to a position. busy reports that half a minute had more requests a
// second than most. Then at is the beginning of a partition that divides the requests that come:
// it divided those of the half minute before best, and these as well. It is nil if less than a
// fifth would be on one side, as where keys only grow: all that comes would go to one side.
func (l *Load) Visited(now edm.Ticks, k []byte, most float64, rand func() uint64) (busy bool, at []byte) {
	most *= seconds
	if now < l.begin || now-l.begin >= window {
		l.busy = l.BusyUntil(now, most/seconds)
		busy = l.requests > most && now-l.begin < 2*window
		if busy && l.at != nil && 5*min(l.before, l.after) >= l.before+l.after {
			at = l.at
		}
		if l.at = nil; busy {
			l.at = l.middle()
		}
		l.begin, l.requests, l.partitions, l.before, l.after = now, 0, nil, 0, 0
	}
	l.requests++
	partition, _ := key.Split(k)
	if bytes.Compare(partition, l.at) < 0 {
		l.before++
	} else {
		l.after++
	}
	if l.requests <= most/2 || len(partition) > maxSample {
		return busy, at
	}
	if len(l.partitions) < samples {
		l.partitions = append(l.partitions, bytes.Clone(partition))
	} else if n := rand() % uint64(l.requests-most/2); n < samples {
		l.partitions[n] = append(l.partitions[n][:0], partition...)
	}
	return busy, at
}

// BusyUntil is the end of the last half minute that had an eighth of most requests a second, or
// more; 0 if none had since the object woke up.
func (l *Load) BusyUntil(now edm.Ticks, most float64) edm.Ticks {
	if l.requests > 0 && l.requests >= most*seconds/8 {
		return min(now, l.begin+window)
	}
	return l.busy
}

func (l *Load) middle() (at []byte) {
	best, all := 0, len(l.partitions)
	for _, p := range l.partitions {
		before := 0
		for _, q := range l.partitions {
			if bytes.Compare(q, p) < 0 {
				before++
			}
		}
		if n := min(before, all-before); n > best && 5*n >= all {
			best, at = n, p
		}
	}
	return at
}
