package transfer

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// frames compresses a stream. After a call to end, a reader can read everything
// so far, and more can be appended.
type frames interface {
	io.Writer
	end() error
}

// Endings of file names by how a file is compressed.
var endings = map[string]string{"none": "", "gzip": ".gz", "zstd": ".zst"}

func newFrames(w io.Writer, compress string) frames {
	switch compress {
	case "gzip":
		return &gzipFrames{w: w}
	case "zstd":
		return &zstdFrames{w: w}
	}
	return plainFrames{w}
}

type plainFrames struct{ io.Writer }

func (plainFrames) end() error { return nil }

type gzipFrames struct {
	w    io.Writer
	z    *gzip.Writer
	open bool
}

func (f *gzipFrames) Write(b []byte) (int, error) {
	if !f.open {
		if f.z == nil {
			f.z = gzip.NewWriter(f.w)
		} else {
			f.z.Reset(f.w)
		}
		f.open = true
	}
	return f.z.Write(b)
}

func (f *gzipFrames) end() error {
	if !f.open {
		return nil
	}
	f.open = false
	return f.z.Close()
}

type zstdFrames struct {
	w    io.Writer
	z    *zstd.Encoder
	open bool
}

func (f *zstdFrames) Write(b []byte) (n int, err error) {
	if !f.open {
		if f.z == nil {
			// Several files are written at once: one goroutine and a window of 1 MiB each.
			f.z, err = zstd.NewWriter(f.w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20), zstd.WithEncoderCRC(true))
			if err != nil {
				return 0, err
			}
		} else {
			f.z.Reset(f.w)
		}
		f.open = true
	}
	return f.z.Write(b)
}

func (f *zstdFrames) end() error {
	if !f.open {
		return nil
	}
	f.open = false
	return f.z.Close()
}

// decompress returns the text of a file by the ending of its name, and the name
// without that ending.
func decompress(r io.Reader, name string) (text io.Reader, inner string, done func(), err error) {
	r = bufio.NewReaderSize(r, 256<<10)
	if inner, ok := strings.CutSuffix(name, ".gz"); ok {
		z, err := gzip.NewReader(r)
		if err == io.EOF { // nothing was compressed
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
