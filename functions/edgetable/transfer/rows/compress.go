package rows

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Frames compresses a stream as a sequence of independent frames. End completes a frame, and the next Write starts
// another. Everything before End can be decompressed.
type Frames interface {
	io.Writer
	End() error
}

// Endings maps compression names to file extensions.
var Endings = map[string]string{"none": "", "gzip": ".gz", "zstd": ".zst"}

// NewFrames returns a Frames that writes to w. The name of the compression must be none, gzip or zstd.
func NewFrames(w io.Writer, compress string) Frames {
	switch compress {
	case "gzip":
		return newPacked(w, gzip.NewWriter(nil))
	case "zstd":
		// Several files are written concurrently, so each encoder is limited to one goroutine and a window of 1 MiB.
		// NewWriter fails only for invalid options.
		z, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20), zstd.WithEncoderCRC(true))
		return newPacked(w, z)
	}
	return plain{w}
}

type plain struct{ io.Writer }

func (plain) End() error { return nil }

type packed struct {
	w       io.Writer
	encoder encoder
	text    *bufio.Writer // buffers small writes, which make the encoder slow
	open    bool
}

type encoder interface {
	io.WriteCloser
	Reset(w io.Writer)
}

func newPacked(w io.Writer, e encoder) *packed {
	return &packed{w: w, encoder: e, text: bufio.NewWriterSize(e, 64<<10)}
}

func (p *packed) Write(b []byte) (int, error) {
	if !p.open {
		p.encoder.Reset(p.w)
		p.open = true
	}
	return p.text.Write(b)
}

func (p *packed) End() error {
	if !p.open {
		return nil
	}
	p.open = false
	return errors.Join(p.text.Flush(), p.encoder.Close())
}

// Decompress returns the content of a file. It decompresses the content if the file name has the extension of a
// compression; inner is the name without this extension. The caller must call done after reading.
func Decompress(r io.Reader, name string) (text io.Reader, inner string, done func(), err error) {
	r = bufio.NewReaderSize(r, 256<<10)
	if inner, ok := strings.CutSuffix(name, ".gz"); ok {
		z, err := gzip.NewReader(r)
		if err == io.EOF { // an export without entities is an empty file
			return r, inner, func() {}, nil
		}
		if err != nil {
			return nil, inner, nil, fmt.Errorf("%s: %w", name, err)
		}
		return z, inner, func() {}, nil
	}
	for _, ending := range []string{".zst", ".zstd"} {
		if inner, ok := strings.CutSuffix(name, ending); ok {
			z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
			if err != nil {
				return nil, inner, nil, fmt.Errorf("%s: %w", name, err)
			}
			return z, inner, z.Close, nil
		}
	}
	return r, name, func() {}, nil
}
