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

// Name is the name of the file with a second copy of all records, outside of the database: if the record of a table
// is lost, nothing else says to which table its entities belong.
//
// Each line ends with its own checksum. The first line has the format version, which Open reads before it changes
// anything. A record is added after its commit, but the drop of a table before its commit. So if the file has a
// record that the catalog does not have, the catalog has lost it.
const Name = "TABLES"

// Content is the content of that file.
type Content struct {
	Format  uint32            // 0 if there is no readable file
	Store   string            // identity of the store; "" if an earlier version wrote the file
	Records map[string][]byte // newest form of each live record, by the text of its key
	Dropped map[table.Incarnation]bool
	Damaged int    // lines
	Text    []byte // content of the file
}

// Read reads the file. A missing one is empty.
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
		if !c.read(line) && line[len(line)-1] == '\n' { // the process stopped while it was adding this line
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
	return true // a line written by a later version
}

// Written returns when a stored record was written.
func Written(v []byte) edm.Ticks {
	r, err := table.ParseRecord("settings/", v)
	if err != nil {
		return 0
	}
	return r.Revision.Written()
}
