package datafile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/sstable/colblk"
)

// A stored block is: compressed content · kind of the compression (1 byte) · CRC-32C of both (4).
//
// A columnar block begins with a header: 4 bytes that depend on its kind · version (1) · number of columns (2) · number
// of rows (4). See package colblk of Pebble.
const (
	trailer        = block.TrailerLen
	columnarHeader = 11

	dataColumns = 7
	spanColumns = 5
)

var errBlock = errors.New("checksum mismatch")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// masked returns a checksum in the masked form that LevelDB stores.
func masked(crc uint32) uint32 { return (crc>>15 | crc<<17) + 0xa282ead8 }

// open verifies the checksum of a stored block and returns its decompressed content.
func open(b []byte) ([]byte, error) {
	n := len(b) - trailer
	if n < 0 || masked(crc32.Checksum(b[:n+1], castagnoli)) != binary.LittleEndian.Uint32(b[n+1:]) {
		return nil, errBlock
	}
	return decompress(b[:n], b[n])
}

// decompress returns the content of a block in newly allocated memory, which is aligned as columnar blocks require.
func decompress(b []byte, kind byte) ([]byte, error) {
	if !known(kind) {
		return nil, fmt.Errorf("unknown compression %d", kind)
	}
	k := block.CompressionIndicator(kind)
	n, err := block.DecompressedLen(k, b)
	if err != nil {
		return nil, err
	}
	if n > maxBlock {
		return nil, fmt.Errorf("a block with the invalid size of %d bytes", n)
	}
	own := make([]byte, n)
	return own, block.DecompressInto(k, b, own)
}

func known(kind byte) bool {
	return kind == byte(block.NoCompressionIndicator) || kind == byte(block.SnappyCompressionIndicator) ||
		kind == byte(block.ZstdCompressionIndicator) || kind == byte(block.MinLZCompressionIndicator)
}

// columns returns the number of columns of a columnar block, or 0 if the block is not columnar.
func columns(b []byte) int {
	if len(b) < columnarHeader || b[4] != byte(colblk.Version1) {
		return 0
	}
	return int(binary.LittleEndian.Uint16(b[5:]))
}

var keySchema = colblk.DefaultKeySchema(pebble.DefaultComparer, 16)

// Entry is one version of a key.
type Entry struct {
	Key, Value []byte
	Sequence   uint64
	Kind       pebble.InternalKeyKind
}

func entries(b []byte) (list []Entry, err error) {
	// Pebble's decoder panics if b only looks like a data block.
	defer func() {
		if r := recover(); r != nil {
			list, err = nil, fmt.Errorf("not a data block: %v", r)
		}
	}()
	if columns(b) != dataColumns {
		return nil, errors.New("not a data block")
	}
	var d colblk.DataBlockDecoder
	d.Init(&keySchema, b)
	var it colblk.DataBlockIter
	it.InitOnce(&keySchema, pebble.DefaultComparer, nil)
	if err := it.Init(&d, block.NoTransforms); err != nil {
		return nil, err
	}
	for kv := it.First(); kv != nil; kv = it.Next() {
		list = append(list, Entry{
			Key: bytes.Clone(kv.K.UserKey), Value: bytes.Clone(kv.InPlaceValue()),
			Sequence: uint64(kv.K.SeqNum()), Kind: kv.K.Kind(),
		})
	}
	return list, it.Error()
}

// Span is a deletion of the keys in [Start, End). It deletes all versions of these keys with lower sequence numbers.
type Span struct {
	Start, End []byte
	Sequence   uint64
}

func spans(b []byte) (list []Span, err error) {
	defer func() {
		if r := recover(); r != nil {
			list, err = nil, fmt.Errorf("not a block of deleted key ranges: %v", r)
		}
	}()
	if columns(b) != spanColumns {
		return nil, errors.New("not a block of deleted key ranges")
	}
	var pool block.BufferPool
	pool.Init(1)
	defer pool.Release()
	v := block.Alloc(len(b), &pool)
	copy(v.BlockData(), b)
	if err := colblk.InitKeyspanBlockMetadata(v.BlockMetadata(), v.BlockData()); err != nil {
		v.Release()
		return nil, err
	}
	it := colblk.NewKeyspanIter(bytes.Compare, v.MakeHandle(), block.NoFragmentTransforms)
	defer it.Close()
	s, err := it.First()
	for ; s != nil && err == nil; s, err = it.Next() {
		for _, k := range s.Keys {
			if k.Kind() == pebble.InternalKeyKindRangeDelete {
				list = append(list, Span{Start: bytes.Clone(s.Start), End: bytes.Clone(s.End), Sequence: uint64(k.SeqNum())})
			}
		}
	}
	return list, err
}
