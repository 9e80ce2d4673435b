// Package logfile reads a write-ahead log of Pebble and continues after damage. Pebble's own reader ends at the first
// damaged chunk of the newest log.
//
//	log := logfile.Scan(content, 12)
//	for _, r := range log.Records { … }
//
// The package does not interpret records. It reads the format of Pebble 2.1. A test compares its results with
// those of Pebble's own reader.
package logfile

import "encoding/binary"

// Log is the content of one log file.
type Log struct {
	Records []Record
	// Damage lists the unreadable parts of the log. A part after the last readable record counts only if the log is
	// closed, because a crash normally leaves an incomplete record.
	Damage []Damage
	// End is the offset after the last complete record.
	End int
	// Closed reports whether Pebble closed the log.
	Closed bool
	// Unreadable is the disk error that occurred while the log was read, or nil. The caller of Scan sets it. A disk
	// error counts as damage even at the end of the log.
	Unreadable error
}

// Record is one complete record.
type Record struct {
	Offset  int
	Payload []byte // content of the record, which shares memory with the content of the file if the record is one chunk
	// Behind is the number of damaged parts of the log that precede the record.
	Behind int
	// Found reports that a byte-by-byte search found the record. Such a record must not be replayed, because it may be
	// a part of another record. But the record proves that there is damage before it.
	Found bool
}

// Damage is a part of the log that cannot be read.
type Damage struct{ Offset, Size int }

// Scan reads a log, or a MANIFEST if the number is 0. It never fails: it reports unreadable bytes as damage, unless
// they are the end of the log.
func Scan(b []byte, number uint32) Log {
	s := scanner{content: b, number: number}
	for s.at < len(b) && !s.log.Closed {
		s.step()
	}
	switch n := len(s.log.Records); {
	case s.log.Closed: // Pebble wrote all records before it closed the log
	case n > 0:
		// Unreadable bytes after the last record are not damage, but the normal end of
		// a log after a crash.
		s.log.Damage = s.log.Damage[:s.log.Records[n-1].Behind]
	default:
		s.log.Damage = nil
	}
	return s.log
}

// NumberOf returns the number of a log according to its first chunk. It does not use the name of the file.
func NumberOf(b []byte) (number uint32, ok bool) {
	b = b[:min(len(b), blockSize)]
	if len(b) < numberHeader || b[6] < 5 { // chunk kinds below 5 have no log number
		return 0, false
	}
	number = binary.LittleEndian.Uint32(b[plainHeader:])
	_, _, ok = parseChunk(b, number)
	return number, ok
}

type scanner struct {
	content []byte
	number  uint32
	at      int
	found   bool // whether a byte-by-byte search has found a chunk in the current block

	log     Log
	open    bool // whether a record has begun whose last chunk was not read yet
	payload []byte
	start   int
	opened  bool // whether a byte-by-byte search has found a chunk of the current record
}

func (s *scanner) blockEnd(i int) int { return min((i/blockSize+1)*blockSize, len(s.content)) }

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
		s.addChunk(c)
		s.at += c.size
	case isTrailer(rest, s.number) && !s.found:
		s.log.Closed = true
	default:
		s.skipDamage(s.search(claimed))
	}
}

func isPadding(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// search returns the offset at which reading continues after an invalid chunk. It first tries the size that the header
// of the chunk claims, and then each byte up to the next block.
func (s *scanner) search(claimed int) (next int) {
	end := s.blockEnd(s.at)
	if claimed > 0 {
		next := s.at + claimed
		if next >= end || isPadding(s.content[next:end]) && end-next < syncHeader {
			return end
		}
		if _, _, ok := parseChunk(s.content[next:end], s.number); ok || isTrailer(s.content[next:end], s.number) {
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

// skipDamage records the bytes before the offset end as damaged, and moves the scanner to this offset. It merges
// adjacent damaged parts.
func (s *scanner) skipDamage(end int) {
	s.open = false
	d := s.log.Damage
	if n := len(d); n > 0 && d[n-1].Offset+d[n-1].Size == s.at {
		d[n-1].Size += end - s.at
	} else {
		s.log.Damage = append(d, Damage{Offset: s.at, Size: end - s.at})
	}
	s.at = end
}

// addChunk adds a chunk to the current record. It ignores chunks of a record whose beginning is damaged.
func (s *scanner) addChunk(c chunk) {
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

// Replayable returns the records that may be replayed: all except those that were found by a search.
func (l Log) Replayable() []Record {
	var list []Record
	for _, r := range l.Records {
		if !r.Found {
			list = append(list, r)
		}
	}
	return list
}
