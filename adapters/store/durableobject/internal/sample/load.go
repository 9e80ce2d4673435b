// Package sample samples what an object is asked for, to divide it among two.
package sample

import (
	"bytes"

	"edgetable/core/edm"
	"edgetable/core/key"
)

const (
	minute    = 60 * edm.TicksPerSecond
	samples   = 32
	maxSample = 256 // bytes of a PartitionKey in the sample
)

// Load is what an object knows of its requests.
type Load struct {
	Highest []byte // of the inserts since the object woke up

	begin      edm.Ticks // of this minute
	requests   float64
	partitions [][]byte // a sample of them
	inserts    int      // of late
	atEnd      int      // of them, behind all others
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

// Visited counts a request to a position. busy reports that the minute before had more
// requests than most; then at is the beginning of the partition that divides them best, nil
// if less than a fifth would be on one side.
func (l *Load) Visited(now edm.Ticks, k []byte, most float64, rand func() uint64) (busy bool, at []byte) {
	if now < l.begin || now-l.begin >= minute {
		if busy = l.requests > most && now-l.begin < 2*minute; busy {
			at = l.middle()
		}
		l.begin, l.requests, l.partitions = now, 0, nil
	}
	l.requests++
	partition, _ := key.Split(k)
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
