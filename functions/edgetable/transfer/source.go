package transfer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"edgetable/functions/edgetable/transfer/azuritefile"
	"edgetable/functions/edgetable/transfer/csvfile"
	"edgetable/functions/edgetable/transfer/parquetfile"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/rows"
)

// Source is a file to import and its target table. A run resumes an earlier run only if the JSON encodings of their
// sources are equal.
type Source struct {
	Table string `json:"table"`
	rows.File
	contents
}

// contents describes the content of a file.
type contents struct {
	stored   *progressfile.Stored   // manifest entry of an exported file; nil if there is no manifest
	exported bool                   // true if the manifest says that the rows are in key order
	fetch    func() ([]byte, error) // function that reads an object of a bucket; nil for files
	rejected string                 // table whose rejects are imported from a file of rejects; "" means all rejects
	azurite  *azuritefile.Table     // table in an Azurite file; nil for other files
	bytes    *atomic.Int64          // number of bytes that have been read
}

func (s *Source) verify() error {
	p, path := s.stored, s.Path
	bytes, sum, err := checksum(path)
	switch {
	case err != nil:
		return err
	case bytes != p.Bytes:
		return fmt.Errorf("%s has %d bytes, but %d bytes in the manifest: it is truncated or changed", path, bytes, p.Bytes)
	case !strings.EqualFold(sum, p.SHA256):
		return fmt.Errorf("%s has another checksum than in the manifest: it is damaged or changed", path)
	}
	return nil
}

func checksum(path string) (bytes int64, sum string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := sha256.New()
	if bytes, err = io.Copy(h, f); err != nil {
		return 0, "", err
	}
	return bytes, hex.EncodeToString(h.Sum(nil)), nil
}

// open returns a reader of the rows. The parameter usual is the format of a file whose extension does not indicate one.
// The caller must call done after reading.
func (s *Source) open(stdin io.Reader, usual string, how *rows.Mapping) (r rows.Reader, done func() error, err error) {
	m, err := how.Mapper(s.File)
	if err != nil {
		return nil, nil, err
	}
	in, format, closeFile := stdin, usual, func() error { return nil }
	switch {
	case s.fetch != nil:
		text, err := s.fetch()
		if err != nil {
			return nil, nil, err
		}
		in, format = bytes.NewReader(text), rows.FormatOf(s.Path)
	case s.Path != "-":
		f, err := os.Open(s.Path)
		if err != nil {
			return nil, nil, err
		}
		if s.azurite != nil {
			return azuritefile.NewRows(counted{io.NewSectionReader(f, s.azurite.Begin, s.Size), s.bytes}, m), f.Close, nil
		}
		in, closeFile = f, f.Close
		if named := rows.FormatOf(s.Path); named != "" {
			format = named
		}
	}
	text, inner, closeText, err := rows.Decompress(counted{in, s.bytes}, strings.ToLower(s.Path))
	if err != nil {
		return nil, nil, errors.Join(err, closeFile())
	}
	done = func() error {
		closeText()
		return closeFile()
	}
	if format != "parquet" {
		text = m.Decoded(text)
	}
	switch format {
	case "csv":
		var schema *csvfile.Schema
		if schema, err = csvfile.SchemaOf(s.Path); err == nil {
			r, err = csvfile.NewRows(text, schema, m)
		}
	case "parquet":
		if f, ok := in.(*os.File); ok && s.Path != "-" && inner == strings.ToLower(s.Path) {
			var p *parquetfile.Rows
			if p, err = parquetfile.NewRows(f, s.Size, m); err == nil {
				r, done = p, func() error { return errors.Join(p.Close(), closeFile()) }
			}
			break
		}
		r, done, err = s.openSpooled(text, m, done)
	default:
		if s.rejected != "" {
			r = rows.NewRejectedRows(text, s.rejected, m)
		} else {
			r = rows.NewJSONRows(text, s.Path, m)
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, done())
	}
	return r, done, nil
}

// openSpooled reads a parquet file from a stream, which it copies to a temporary file.
func (s *Source) openSpooled(text io.Reader, m *rows.Mapper, done func() error) (rows.Reader, func() error, error) {
	f, size, err := parquetfile.Spool(text)
	if err != nil {
		return nil, done, err
	}
	remove := func() error { return errors.Join(f.Close(), os.Remove(f.Name()), done()) }
	p, err := parquetfile.NewRows(f, size, m)
	if err != nil {
		return nil, remove, err
	}
	return p, func() error { return errors.Join(p.Close(), remove()) }, nil
}

type counted struct {
	io.Reader
	n *atomic.Int64
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n.Add(int64(n))
	return n, err
}
