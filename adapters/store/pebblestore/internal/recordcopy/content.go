package recordcopy

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/wholefile"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Name is the name of the file with a second copy of all records, outside of the database. If the database loses a
// record, only this file says to which table the entities belong.
//
// The first line contains the format version of the store, which Open reads before it changes any file.
//
// The line of a record is added after its commit, and the line of a drop before its commit. So a record that is only in
// this file was lost.
const Name = "TABLES"

// Content is the content of the file TABLES.
type Content struct {
	Format  uint32            // format version of the store; 0 if the file does not exist or its first line is not readable
	Store   string            // identity of the store; "" if an earlier version wrote the file
	Records map[string][]byte // newest record of each account and of each table that was not dropped, by the text of its key
	Dropped map[table.Incarnation]bool
	Damaged int
	Text    []byte // content of the whole file
}

// Read reads the file at path. If the file does not exist, Read returns an empty Content.
func Read(dir vfs.FS, path string) (Content, error) {
	c := Content{Records: map[string][]byte{}, Dropped: map[table.Incarnation]bool{}}
	b, bad, err := wholefile.Readable(dir, path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	for line := range bytes.Lines(b) {
		if !c.read(line) && line[len(line)-1] == '\n' { // a killed process may leave an incomplete last line, which is not damage
			c.Damaged++
		}
	}
	if bad != nil {
		c.Damaged = max(c.Damaged, 1)
	}
	for k, v := range c.Records {
		if r, err := table.ParseRecord(k, v); err != nil || c.Dropped[r.Incarnation] {
			delete(c.Records, k)
		}
	}
	c.Text = b
	return c, nil
}

// read parses one line and reports whether it is intact.
func (c *Content) read(line []byte) bool {
	i := bytes.LastIndexByte(line, ' ')
	if i < 0 || string(line[i:]) != fmt.Sprintf(" %08x\n", crc32.ChecksumIEEE(line[:i])) {
		return false
	}
	word, rest, _ := strings.Cut(string(line[:i]), " ")
	switch word {
	case "edgetable":
		n := uint32(0)
		_, err := fmt.Sscanf(rest, "%d", &n)
		c.Format = max(c.Format, n)
		return err == nil
	case "store":
		c.Store = rest
		return true
	case "record":
		var k, text string
		if _, err := fmt.Sscanf(rest, "%q %s", &k, &text); err != nil {
			return false
		}
		v, err := base64.StdEncoding.DecodeString(text)
		if old := c.Records[k]; err == nil && Written(v) >= Written(old) {
			c.Records[k] = v
		}
		return err == nil
	case "drop":
		var b []byte
		if _, err := fmt.Sscanf(rest, "%x", &b); err != nil || len(b) != len(table.Incarnation{}) {
			return false
		}
		c.Dropped[table.Incarnation(b)] = true
		return true
	}
	return true // a later version has written this line
}

// Written returns the time at which a stored record was written.
func Written(v []byte) edm.Ticks {
	r, err := table.ParseRecord("settings/", v)
	if err != nil {
		return 0
	}
	return r.Revision.Written()
}
