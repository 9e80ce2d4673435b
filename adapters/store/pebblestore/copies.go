package pebblestore

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// copyFile is the file with a second copy of all records, outside of the database:
// without the record of a table nothing tells to which table its entities belong. Each
// line ends with a checksum of its own. The first one has the format version, which a
// start reads before it changes anything.
//
// A record is added after its commit, and the drop of a table before it. So if the file
// has a record that the catalog does not have, the catalog has lost it.
const copyFile = "TABLES"

// copied is the content of that file.
type copied struct {
	format  uint32            // 0: there is no readable file
	records map[string][]byte // by the text of the key: the newest form of each live record
	dropped map[table.Incarnation]bool
	damaged int // lines
}

// readCopies reads the file. A missing one is empty.
func readCopies(dir vfs.FS, path string) (copied, []byte, error) {
	c := copied{records: map[string][]byte{}, dropped: map[table.Incarnation]bool{}}
	f, err := dir.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil, nil
	}
	if err != nil {
		return c, nil, err
	}
	b, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return c, nil, err
	}
	for line := range bytes.Lines(b) {
		if !c.read(line) && line[len(line)-1] == '\n' { // a line without an end was being added
			c.damaged++
		}
	}
	for k, v := range c.records {
		if r, err := table.ParseRecord(k, v); err != nil || c.dropped[r.Incarnation] {
			delete(c.records, k)
		}
	}
	return c, b, nil
}

// read takes in one line and reports whether it is intact.
func (c *copied) read(line []byte) bool {
	i := bytes.LastIndexByte(line, ' ')
	if i < 0 || string(line[i:]) != fmt.Sprintf(" %08x\n", crc32.ChecksumIEEE(line[:i])) {
		return false
	}
	word, rest, _ := strings.Cut(string(line[:i]), " ")
	switch word {
	case "edgetable":
		n := uint32(0)
		_, err := fmt.Sscanf(rest, "%d", &n)
		c.format = max(c.format, n)
		return err == nil
	case "record":
		var k, text string
		if _, err := fmt.Sscanf(rest, "%q %s", &k, &text); err != nil {
			return false
		}
		v, err := base64.StdEncoding.DecodeString(text)
		if old := c.records[k]; err == nil && written(v) >= written(old) {
			c.records[k] = v
		}
		return err == nil
	case "drop":
		var b []byte
		if _, err := fmt.Sscanf(rest, "%x", &b); err != nil || len(b) != len(table.Incarnation{}) {
			return false
		}
		c.dropped[table.Incarnation(b)] = true
		return true
	}
	return true // of a later version
}

// written returns when a stored record was written.
func written(v []byte) edm.Ticks {
	r, err := table.ParseRecord("settings/", v)
	if err != nil {
		return 0
	}
	return r.Revision.Written()
}

func copyLine(format string, args ...any) []byte {
	b := fmt.Appendf(nil, format, args...)
	return fmt.Appendf(b, " %08x\n", crc32.ChecksumIEEE(b))
}

func recordLine(k string, v []byte) []byte {
	return copyLine("record %q %s", k, base64.StdEncoding.EncodeToString(v))
}

// copies adds lines to the file.
type copies struct {
	fs   vfs.FS // that of the machine: an operation that finds no space fails
	dir  string
	logf func(format string, args ...any)

	mu   sync.Mutex
	file vfs.File // nil: there is none until the next start
	size int64
	most int64 // size at which the file is written again
}

func (c *copies) path() string { return c.fs.PathJoin(c.dir, copyFile) }

// slack is how much longer the file may be than the records in it.
const slack = 1 << 20

// begin writes the file if its content is not as it should be. old is the content. With
// a file system that waits for space, begin waits.
func (c *copies) begin(to vfs.FS, want, old []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file != nil {
		if err := c.file.Close(); err != nil {
			return err
		}
		c.file = nil
	}
	if !bytes.Equal(want, old) {
		if err := replaceFile(to, c.dir, copyFile, want); err != nil {
			return err
		}
	}
	f, err := c.fs.OpenReadWrite(c.path(), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	c.file, c.size, c.most = f, int64(len(want)), 2*int64(len(want))+slack
	return nil
}

// add adds a line and makes it durable. If that fails, the file is removed: it would
// contradict the catalog later. again reports whether the file should be written again,
// because it is missing or has grown too long.
func (c *copies) add(line []byte) (again bool) {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file == nil {
		return true
	}
	_, err := c.file.WriteAt(line, c.size)
	if err == nil {
		err = c.file.Sync()
	}
	c.size += int64(len(line))
	if err != nil {
		err = errors.Join(err, c.file.Close(), c.fs.Remove(c.path()))
		c.file = nil
		c.logf("edgetable: the second copy of the tables' records is gone until a table is created or changed: %v", err)
	}
	return c.file == nil || c.size > c.most
}

func (c *copies) close() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file != nil {
		c.file.Close() // each line is synced
		c.file = nil
	}
}

// replaceFile writes a file of a directory durably, as a whole or not at all. What the file
// names is in the directory first: the file may survive a power failure that one made
// before it does not.
func replaceFile(to vfs.FS, dir, name string, b []byte) error {
	d, err := to.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(replaceIn(to, d, to.PathJoin(dir, name), b), d.Close())
}

func replaceIn(to vfs.FS, dir vfs.File, path string, b []byte) error {
	f, err := to.Create(path+".new", vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close(), dir.Sync()); err != nil {
		return err
	}
	if err := to.Rename(path+".new", path); err != nil {
		return err
	}
	return dir.Sync()
}
