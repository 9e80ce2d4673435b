// Package sample samples the requests to an object, to find a key that divides their load.
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
	maxSample = 256 // maximum length of a PartitionKey in the sample, in bytes
)

// Load counts the requests to an object.
type Load struct {
	Highest []byte // the highest key inserted since the object woke up

	begin         edm.Ticks // when the current half minute began
	busy          edm.Ticks // the end of the last half minute that was busy: see BusyUntil
	requests      float64
	partitions    [][]byte // a sample of the requested partitions
	at            []byte   // the key that divides the requests of the last half minute best; nil if there is none
	before, after int      // number of requests in this half minute for keys below at, and for all other keys
	inserts       int      // number of recent inserts
	atEnd         int      // number of recent inserts that were above all earlier keys
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

// Grows reports whether nearly all recent inserts were above all earlier keys.
func (l *Load) Grows() bool { return l.inserts >= 16 && l.atEnd*10 >= l.inserts*9 }

// Visited counts a request for the key k. The first call after a half minute reports in busy whether that half minute
// had more than maxRate requests per second.
//
// The result splitKey is then a partition at which the range can be split, or nil. The partition must divide the
// requests of two successive half minutes. If new keys always come after the existing keys, there is no such partition.
func (l *Load) Visited(now edm.Ticks, k []byte, maxRate float64, rand func() uint64) (busy bool, splitKey []byte) {
	maxRate *= seconds
	if now < l.begin || now-l.begin >= window {
		l.busy = l.BusyUntil(now, maxRate/seconds)
		busy = l.requests > maxRate && now-l.begin < 2*window
		if busy && l.at != nil && 5*min(l.before, l.after) >= l.before+l.after {
			splitKey = l.at
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
	if l.requests <= maxRate/2 || len(partition) > maxSample {
		return busy, splitKey
	}
	if len(l.partitions) < samples {
		l.partitions = append(l.partitions, bytes.Clone(partition))
	} else if n := rand() % uint64(l.requests-maxRate/2); n < samples {
		l.partitions[n] = append(l.partitions[n][:0], partition...)
	}
	return busy, splitKey
}

// BusyUntil returns the end of the last half minute with at least an eighth of maxRate, the request rate at which the
// object splits. It returns 0 if there was none.
func (l *Load) BusyUntil(now edm.Ticks, maxRate float64) edm.Ticks {
	if l.requests > 0 && l.requests >= maxRate*seconds/8 {
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
