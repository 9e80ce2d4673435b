// Package logfile reads a write-ahead log of Pebble past a damaged place. Pebble
// does not: it takes the first damaged chunk of the newest log for the end of
// the log.
//
//	log := logfile.Scan(content, 12)
//	for _, r := range log.Records { … }
//
// It does not know the meaning of a record. The format is that of Pebble 2.1; a
// test compares this reader with Pebble's own.
package logfile

import "encoding/binary"

// Log is the content of one log file.
type Log struct {
	Records []Record
	// Damage lists the unreadable places that have a readable record after them.
	// If it is empty, the bytes after the last record were never a complete
	// record.
	Damage []Damage
	// End is the offset after the last complete record.
	End int
	// Closed reports whether Pebble closed the log.
	Closed bool
	// Unreadable is the read error of a place in the log, or nil; the caller of Scan sets it. Unlike a torn end, a
	// read error is always damage.
	Unreadable error
}

// Record is one complete record.
type Record struct {
	Offset  int
	Payload []byte // shares memory with the content of the file if it is one chunk
	// Behind is the number of damaged places before the record.
	Behind int
	// Found reports that a search byte by byte has found the record, so that it may
	// be part of the payload of another record. It proves damage, but must not be
	// replayed.
	Found bool
}

// Damage is one place that cannot be read.
type Damage struct{ Offset, Size int }

// Scan reads the log with this number, or a MANIFEST, whose number is 0. It
// never fails: unreadable bytes are damage or the end.
func Scan(b []byte, number uint32) Log {
	s := scanner{content: b, number: number}
	for s.at < len(b) && !s.log.Closed {
		s.step()
	}
	if n := len(s.log.Records); n > 0 {
		// An unreadable place without a record after it is the normal end of a
		// log after a crash.
		s.log.Damage = s.log.Damage[:s.log.Records[n-1].Behind]
	} else {
		s.log.Damage = nil
	}
	return s.log
}

// NumberOf returns the number of a log from its first chunk, whatever the name of the file is.
func NumberOf(b []byte) (number uint32, ok bool) {
	b = b[:min(len(b), blockSize)]
	if len(b) < numberHeader || b[6] < 5 { // a chunk without a number
		return 0, false
	}
	number = binary.LittleEndian.Uint32(b[plainHeader:])
	_, _, ok = parseChunk(b, number)
	return number, ok
}

// scanner reads the chunks of a log.
type scanner struct {
	content []byte
	number  uint32
	at      int
	found   bool // the chunks since at were found by a search, up to the end of the block

	log     Log
	open    bool // the first chunk of the current record was read
	payload []byte
	start   int
	opened  bool // the record was opened while found was set
}

// blockEnd returns the end of the block in which offset i is.
func (s *scanner) blockEnd(i int) int { return min((i/blockSize+1)*blockSize, len(s.content)) }

// step reads one chunk, or skips bytes that are not a chunk.
func (s *scanner) step() {
	if s.at%blockSize == 0 {
		s.found = false
	}
	end := s.blockEnd(s.at)
	rest := s.content[s.at:end]
	if isPadding(rest) && len(rest) < syncHeader {
		s.at = end
		return
	}
	c, claimed, ok := parseChunk(rest, s.number)
	switch {
	case ok:
		s.take(c)
		s.at += c.size
	case isTrailer(rest, s.number) && !s.found:
		s.log.Closed = true
	default:
		s.damaged(s.search(claimed))
	}
}

// isPadding reports whether all bytes are zero.
func isPadding(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// search returns the offset at which reading continues after the chunk at s.at.
// A chunk with an intact header gives the start of the next one, and each block
// begins with a chunk; all other places need a search byte by byte.
func (s *scanner) search(claimed int) (next int) {
	end := s.blockEnd(s.at)
	if claimed > 0 {
		next := s.at + claimed
		if next >= end || isPadding(s.content[next:end]) && end-next < syncHeader {
			return end
		}
		if _, _, ok := parseChunk(s.content[next:end], s.number); ok {
			return next
		}
	}
	for i := s.at + 1; i+numberHeader <= end; i++ {
		kind := s.content[i+6]
		if numbered := kind >= 5 && binary.LittleEndian.Uint32(s.content[i+7:]) == s.number; kind > 12 || numbered == (s.number == 0) {
			continue
		}
		if _, _, ok := parseChunk(s.content[i:end], s.number); ok {
			s.found = true
			return i
		}
	}
	return end
}

// damaged records a damaged place and moves to next. Adjacent damaged places count as one.
func (s *scanner) damaged(next int) {
	s.open = false
	d := s.log.Damage
	if n := len(d); n > 0 && d[n-1].Offset+d[n-1].Size == s.at {
		d[n-1].Size += next - s.at
	} else {
		s.log.Damage = append(d, Damage{Offset: s.at, Size: next - s.at})
	}
	s.at = next
}

// take adds a chunk to its record. A chunk that continues no record belongs to a record whose beginning is damaged.
func (s *scanner) take(c chunk) {
	switch c.part {
	case whole, first:
		s.open, s.start, s.opened = true, s.at, s.found
		s.payload = c.payload[:len(c.payload):len(c.payload)]
	case middle, last:
		if !s.open {
			return
		}
		s.payload = append(s.payload, c.payload...)
		s.opened = s.opened || s.found
	}
	if s.open && (c.part == whole || c.part == last) {
		s.log.Records = append(s.log.Records, Record{
			Offset: s.start, Payload: s.payload, Behind: len(s.log.Damage), Found: s.opened,
		})
		s.log.End = s.at + c.size
		s.open = false
	}
}

// Replayable returns the records that were not found by a search.
func (l Log) Replayable() []Record {
	var list []Record
	for _, r := range l.Records {
		if !r.Found {
			list = append(list, r)
		}
	}
	return list
}
