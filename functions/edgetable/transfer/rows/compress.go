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

// Frames compresses a stream in independent frames. After End, a reader can decompress all text
// that was written before. Later writes begin another frame.
type Frames interface {
	io.Writer
	End() error
}

// Endings maps the name of each compression to its file extension.
var Endings = map[string]string{"none": "", "gzip": ".gz", "zstd": ".zst"}

// NewFrames returns a Frames that writes to w. The parameter compress is the name of a compression:
// none, gzip or zstd.
func NewFrames(w io.Writer, compress string) Frames {
	switch compress {
	case "gzip":
		return newPacked(w, gzip.NewWriter(nil))
	case "zstd":
		// Several files are written at the same time, so each file uses only one goroutine and a
		// window of 1 MiB. NewWriter cannot fail, because these options are valid.
		z, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20), zstd.WithEncoderCRC(true))
		return newPacked(w, z)
	}
	return plain{w}
}

type plain struct{ io.Writer }

func (plain) End() error { return nil }

// packed implements Frames for the compressions gzip and zstd.
type packed struct {
	w       io.Writer
	encoder encoder
	text    *bufio.Writer // buffers the text, because many small writes would make the encoder slow
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

// Decompress reads a file. It decompresses the file if the name has the extension of a compressed
// file. inner is the name without this extension.
func Decompress(r io.Reader, name string) (text io.Reader, inner string, done func(), err error) {
	r = bufio.NewReaderSize(r, 256<<10)
	if inner, ok := strings.CutSuffix(name, ".gz"); ok {
		z, err := gzip.NewReader(r)
		if err == io.EOF { // the file of an export without entities is empty
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
