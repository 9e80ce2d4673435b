package logfile

// Follow passes each record of a log to a function, until it reaches bytes that are not a record. There, the log ends,
// or Pebble stops reading after a crash.
//
// The slice b begins with a block. The parameter firstRecord is the offset in b of the first record: 0, or the end of
// the last record of an earlier call. The records share the memory of b. Follow joins the parts of a record in b, and
// so changes the content of b.
//
// Follow returns the offset after the last record, and whether it has read all of b.
func Follow(b []byte, firstRecord int, number uint32, take func(record []byte)) (end int, more bool) {
	end = firstRecord
	start, size, open := 0, 0, false // state of the record that is being read, until its last chunk is read
	for firstRecord < len(b) {
		rest := b[firstRecord:min((firstRecord/blockSize+1)*blockSize, len(b))]
		if len(rest) < syncHeader && isPadding(rest) {
			firstRecord += len(rest)
			continue
		}
		c, _, ok := parseChunk(rest, number)
		if !ok {
			return end, false
		}
		firstRecord += c.size
		switch c.part {
		case whole, first:
			start, size, open = firstRecord-len(c.payload), len(c.payload), true
		case middle, last:
			if open {
				size += copy(b[start+size:], c.payload)
			}
		}
		if open && (c.part == whole || c.part == last) {
			take(b[start : start+size : start+size])
			end, open = firstRecord, false
		}
	}
	return end, true
}

// BlockOf returns the offset of the block that contains the byte at the given offset. The input of Follow must begin at such a block.
func BlockOf(offset int64) int64 { return offset - offset%blockSize }
