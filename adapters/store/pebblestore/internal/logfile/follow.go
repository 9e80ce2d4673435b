package logfile

// Follow passes each record of a log to the function take. at is the offset of the first record: 0, or the end returned
// by an earlier call. Follow stops at the first bytes that are not a record. This is the current end of a log that is
// being written, or the place where Pebble stops reading after a crash.
//
// b begins with a block, and the offset at counts from the beginning of b. Follow joins the chunks of a record inside
// b. So records share memory with b, and the caller cannot use b again. end is the offset after the last record. more
// reports whether Follow has read all of b.
func Follow(b []byte, at int, number uint32, take func(record []byte)) (end int, more bool) {
	end = at
	start, size, open := 0, 0, false // state of the record that is being read, until its last chunk is read
	for at < len(b) {
		rest := b[at:min((at/blockSize+1)*blockSize, len(b))]
		if len(rest) < syncHeader && isPadding(rest) {
			at += len(rest)
			continue
		}
		c, _, ok := parseChunk(rest, number)
		if !ok {
			return end, false
		}
		at += c.size
		switch c.part {
		case whole, first:
			start, size, open = at-len(c.payload), len(c.payload), true
		case middle, last:
			if open {
				size += copy(b[start+size:], c.payload)
			}
		}
		if open && (c.part == whole || c.part == last) {
			take(b[start : start+size : start+size])
			end, open = at, false
		}
	}
	return end, true
}

// BlockOf returns the offset of the block that contains the byte at offset. The parameter b of Follow must begin there.
func BlockOf(offset int64) int64 { return offset - offset%blockSize }
