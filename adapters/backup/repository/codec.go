package repository

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"edgetable/adapters/backup/repository/internal/seal"
)

// Codec is a compression method for the commits of a log piece.
type Codec string

const (
	// Zstd compresses better than S2.
	Zstd Codec = ""
	// S2 uses a quarter to a third of the CPU time of zstd.
	S2 Codec = "s2"
)

// window is the compression window in bytes. A larger window costs more time and makes the result only a little
// smaller.
const window = 1 << 20

type encoder interface {
	io.WriteCloser
	Reset(to io.Writer)
}

func (c Codec) encoder() (encoder, error) {
	if c == S2 {
		return s2.NewWriter(nil, s2.WriterConcurrency(1), s2.WriterBlockSize(window)), nil
	}
	// The checksum of zstd is off, because each stored object has a checksum.
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(window), zstd.WithEncoderCRC(false))
}

// decode decompresses an object. It returns an error if the content does not have the given size in bytes.
func (c Codec) decode(packed []byte, size int64) ([]byte, error) {
	var plain []byte
	switch c {
	case Zstd:
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(max(size, 8<<20))))
		if err != nil {
			return nil, err
		}
		defer d.Close()
		if plain, err = d.DecodeAll(packed, nil); err != nil {
			return nil, err
		}
	case S2:
		var out bytes.Buffer
		// Most objects are small: a reader would allocate its buffers for a whole window.
		r := s2.NewReader(bytes.NewReader(packed), s2.ReaderMaxBlockSize(window), s2.ReaderAllocBlock(int(min(window, max(1024, size)))))
		if _, err := out.ReadFrom(io.LimitReader(r, size+1)); err != nil {
			return nil, err
		}
		plain = out.Bytes()
	default:
		return nil, seal.ErrNewer
	}
	if int64(len(plain)) != size {
		return nil, fmt.Errorf("the object has %d bytes instead of %d", len(plain), size)
	}
	return plain, nil
}
