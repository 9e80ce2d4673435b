package logfile

import (
	"encoding/binary"
	"hash/crc32"
)

// A log is a sequence of blocks of 32 KiB. A block is a sequence of chunks, each with a record or a part of one:
//
//	CRC (4) · length (2) · kind (1) [· log number (4) [· synced offset (8)]] · payload
//
// The checksum covers everything after the length. A chunk never crosses the end
// of a block. If the rest of a block is too small for a header, it is filled with
// zeros. See package record of Pebble.
const (
	blockSize    = 32 << 10
	plainHeader  = 7
	numberHeader = 11
	syncHeader   = 19
)

type part uint8

const (
	whole part = iota
	first
	middle
	last
)

type chunk struct {
	part    part
	payload []byte
	size    int // size of the chunk with its header
}

// parseChunk parses the chunk at the start of b. The slice b must end at the end of the block. ok is false if the chunk
// is invalid. The result claimed is the size in the chunk's header, or 0 if the header is invalid too.
func parseChunk(b []byte, number uint32) (c chunk, claimed int, ok bool) {
	if len(b) < plainHeader {
		return chunk{}, 0, false
	}
	kind := b[6]
	if kind < 1 || kind > 12 {
		return chunk{}, 0, false
	}
	header := [...]int{plainHeader, numberHeader, syncHeader}[(kind-1)/4]
	size := header + int(binary.LittleEndian.Uint16(b[4:]))
	if size > len(b) {
		return chunk{}, 0, false
	}
	if header > plainHeader && binary.LittleEndian.Uint32(b[7:]) != number {
		return chunk{}, 0, false
	}
	if binary.LittleEndian.Uint32(b) != checksum(b[6:size]) {
		return chunk{}, size, false
	}
	return chunk{part: part((kind - 1) % 4), payload: b[header:size], size: size}, size, true
}

// isTrailer reports whether b begins with the trailer of a closed log. A trailer is a chunk header with the next
// log number and without a checksum.
func isTrailer(b []byte, number uint32) bool {
	return len(b) >= numberHeader && binary.LittleEndian.Uint32(b) == 0 && binary.LittleEndian.Uint16(b[4:]) == 0 &&
		b[6] == 5 && binary.LittleEndian.Uint32(b[7:]) == number+1
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum returns the CRC-32C of b, masked as in the log format of LevelDB.
func checksum(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}
