package logfile

// Follow calls take for each record of a log, from offset at on. at is 0 or the end returned by an earlier call.
// Follow stops at the first place that is not a record: the current end of a log that is being written, or the place
// where Pebble stops after a crash.
//
// b begins with a block, and at counts from its beginning. Records share memory with b: their chunks are joined in
// place, so b cannot be used afterwards. end is the offset after the last record. more reports whether all of b was
// read.
func Follow(b []byte, at int, number uint32, take func(record []byte)) (end int, more bool) {
	end = at
	start, size, open := 0, 0, false // state of the record whose last chunk was not read yet
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

// BlockOf returns the start of the block that contains an offset. The input of Follow must begin there.
func BlockOf(offset int64) int64 { return offset - offset%blockSize }
