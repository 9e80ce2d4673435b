package datafile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/wholefile"
)

// blockRange is the byte range of a block in the file. The size includes the trailer.
type blockRange struct{ offset, size int64 }

// File is a data file that may have damaged blocks.
type File struct {
	content io.ReaderAt
	data    []blockRange
	// Spans are the readable deletions of key ranges.
	Spans []Span
	// Store is the identity of the store that wrote the file. Store is "" if an earlier version wrote the file, or if the
	// identity cannot be read.
	Store string
	// Damage lists the unreadable parts of the file that are not data blocks. The Cursor lists unreadable data blocks.
	Damage []Damage
}

// Damage is a part of the file that cannot be read.
type Damage struct {
	Offset, Size  int64
	After, Before []byte // nearest readable keys before and after a damaged data block; nil if there are none
	Err           error
}

// reopeningReader opens its file for each read, because a store may have more data files than a process may have open.
type reopeningReader struct {
	fs   vfs.FS
	path string
}

func (r reopeningReader) ReadAt(b []byte, at int64) (n int, err error) {
	f, err := r.fs.Open(r.path)
	if err != nil {
		return 0, err
	}
	n, err = f.ReadAt(b, at)
	return n, errors.Join(err, f.Close())
}

// magic is the text at the end of every data file of Pebble.
const magic = "\xf0\x9f\xaa\xb3\xf0\x9f\xaa\xb3"

// Is reports whether a file is a data file. It checks the content of the file, and not its name.
func Is(fs vfs.FS, path string) bool {
	f, err := fs.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // the file was only read, so an error of Close does not matter
	info, err := f.Stat()
	if err != nil || info.IsDir() || info.Size() < int64(len(magic)) {
		return false
	}
	end := make([]byte, len(magic))
	n, _ := f.ReadAt(end, info.Size()-int64(len(end)))
	return n == len(end) && string(end) == magic
}

// Read finds the blocks of a file. It returns an error only if the file cannot be read at all.
func Read(fs vfs.FS, path string) (*File, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := read(f, reopeningReader{fs, path})
	return r, errors.Join(err, f.Close())
}

func read(f vfs.File, again reopeningReader) (*File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r := &File{content: again}
	places, store, err := readIndex(f, info.Size())
	if err == nil {
		r.Store = store
		r.index(places)
		return r, nil
	}
	b, _, readErr := wholefile.ReadableOf(f, again.path) // unreadable bytes cause wrong checksums, so the function search detects them
	if readErr != nil {
		return nil, readErr
	}
	r.Damage = append(r.Damage, Damage{Size: info.Size(), Err: fmt.Errorf("the index cannot be read (%s)", firstLine(err))})
	found, damage := search(b)
	r.Damage = append(r.Damage, damage...)
	for _, p := range found {
		switch own, err := open(b[p.offset : p.offset+p.size]); {
		case err != nil:
		case columns(own) == dataColumns:
			r.data = append(r.data, p)
		case columns(own) == spanColumns:
			if s, err := spans(own); err == nil {
				r.Spans = append(r.Spans, s...)
			}
		}
	}
	return r, nil
}

// readIndex returns the layout of a file from its index, and the identity of the store that wrote the file.
func readIndex(f vfs.File, size int64) (l *sstable.Layout, store string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	readable, err := sstable.NewSimpleReadable(unclosedFile{f})
	if err != nil {
		return nil, "", err
	}
	r, err := sstable.NewReader(context.Background(), readable, sstable.ReaderOptions{})
	if err != nil {
		return nil, "", err
	}
	defer r.Close()
	if l, err = r.Layout(); err != nil {
		return nil, "", err
	}
	for _, h := range l.Data {
		if h.Offset+h.Length+trailer > uint64(size) {
			return nil, "", fmt.Errorf("a block is after the end of the file")
		}
	}
	if p, err := r.ReadPropertiesBlock(context.Background(), nil); err == nil {
		if v := p.UserProperties[identityProperty]; len(v) > 1 {
			store = v[1:] // the first byte is Pebble's number of the property
		}
	}
	return l, store, nil
}

// Owner returns the identity of the store that wrote a file. It returns "" if the file has no identity or cannot be read.
func Owner(fs vfs.FS, path string) string {
	f, err := fs.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	_, store, _ := readIndex(f, info.Size())
	return store
}

// unclosedFile is a file whose Close does nothing, because the caller of readIndex closes the file.
type unclosedFile struct{ vfs.File }

func (unclosedFile) Close() error { return nil }

// index adds the byte ranges of the data blocks in l to f.data, reads the deleted key ranges, and checks the other
// blocks.
func (f *File) index(l *sstable.Layout) {
	for _, h := range l.Data {
		f.data = append(f.data, placeOf(h.Handle))
	}
	others := append([]block.Handle{l.TopIndex, l.RangeKey, l.ValueIndex, l.Properties, l.MetaIndex, l.BlobReferenceIndex}, l.Index...)
	others = append(others, l.ValueBlock...)
	for _, h := range l.Filter {
		others = append(others, h.Handle)
	}
	for _, h := range others {
		if h.Length > 0 {
			f.read(placeOf(h))
		}
	}
	if l.RangeDel.Length > 0 {
		if b, ok := f.read(placeOf(l.RangeDel)); ok {
			s, err := spans(b)
			if err != nil {
				f.Damage = append(f.Damage, Damage{Offset: int64(l.RangeDel.Offset), Size: int64(l.RangeDel.Length), Err: err})
			}
			f.Spans = s
		}
	}
}

func placeOf(h block.Handle) blockRange {
	return blockRange{int64(h.Offset), int64(h.Length) + trailer}
}

// read reads a block that is not a data block. If the block is damaged, read adds it to f.Damage.
func (f *File) read(p blockRange) ([]byte, bool) {
	b, err := f.block(p)
	if err != nil {
		f.Damage = append(f.Damage, Damage{Offset: p.offset, Size: p.size, Err: err})
	}
	return b, err == nil
}

func (f *File) block(p blockRange) ([]byte, error) {
	b := make([]byte, p.size)
	if n, err := f.content.ReadAt(b, p.offset); err != nil && (!errors.Is(err, io.EOF) || n < len(b)) {
		return nil, err
	}
	return open(b)
}

// Cursor reads the versions of the keys in a file in order. It skips damaged blocks.
type Cursor struct {
	// Damage lists the unreadable data blocks found so far.
	Damage []Damage
	file   *File
	next   int // index of the next data block
	list   []Entry
	last   []byte
	open   int // number of elements at the end of Damage without their field Before
}

// Cursor returns a cursor at the beginning of the file.
func (f *File) Cursor() *Cursor { return &Cursor{file: f} }

// Next returns the next version of a key. ok is false at the end of the file.
func (c *Cursor) Next() (e Entry, ok bool) {
	for len(c.list) == 0 {
		if c.next == len(c.file.data) {
			c.open = 0
			return Entry{}, false
		}
		p := c.file.data[c.next]
		c.next++
		list, err := c.read(p)
		if err != nil {
			c.Damage = append(c.Damage, Damage{Offset: p.offset, Size: p.size, After: c.last, Err: err})
			c.open++
			continue
		}
		c.list = list
		for ; c.open > 0; c.open-- {
			c.Damage[len(c.Damage)-c.open].Before = list[0].Key
		}
	}
	e, c.list = c.list[0], c.list[1:]
	c.last = e.Key
	return e, true
}

// read reads a data block. It returns an error if the keys are not in order, also relative to the previous block.
func (c *Cursor) read(p blockRange) ([]Entry, error) {
	b, err := c.file.block(p)
	if err != nil {
		return nil, err
	}
	list, err := entries(b)
	if err != nil {
		return nil, err
	}
	last := c.last
	for _, e := range list {
		if last != nil && bytes.Compare(e.Key, last) < 0 {
			return nil, fmt.Errorf("the keys are not in order")
		}
		last = e.Key
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("the block is empty")
	}
	return list, nil
}

func firstLine(err error) string {
	line, _, _ := bytes.Cut([]byte(err.Error()), []byte("\n"))
	return string(line)
}

// Place returns the byte range of the block that contains the version returned by the last call of Next.
func (c *Cursor) Place() (offset, size int64) {
	p := c.file.data[c.next-1]
	return p.offset, p.size
}
