package logfile

// Follow calls take with each record of a log from offset at on, which is 0 or the end of an
// earlier call, up to the first place that is no record: the end, so far, of a log that is being
// written, or where Pebble ends after a crash. b begins with a block, and at counts from its
// beginning. Records share memory with b: their chunks are joined in place, so b has no other use
// afterwards. end is the offset behind the last record. more reports that all of b was read.
func Follow(b []byte, at int, number uint32, take func(record []byte)) (end int, more bool) {
	end = at
	start, size, open := 0, 0, false // of the record whose last chunk was not read yet
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

// BlockOf returns the offset of the block that an offset is in: where what Follow is given
// must begin.
func BlockOf(offset int64) int64 { return offset - offset%blockSize }
