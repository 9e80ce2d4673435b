package recordcopy

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// record returns the key, as text, and the stored value of the record of a table.
func record(name string, incarnation byte, written edm.Ticks) (string, []byte) {
	r := table.NewRecord(table.Name{Account: "acme", Table: name}, table.Incarnation{incarnation})
	return r.Key.String(), table.AppendRecord(nil, &r, written)
}

func read(t *testing.T, fs vfs.FS) Content {
	t.Helper()
	c, err := Read(fs, fs.PathJoin("data", Name))
	must.OK(t, err)
	return c
}

// begin creates a File that contains the records of two tables.
func begin(t *testing.T) (*vfs.MemFS, *File) {
	t.Helper()
	fs := vfs.NewMem()
	must.OK(t, fs.MkdirAll("data", 0o700))
	f := New(fs, "data", t.Logf)
	want := Head(2)
	want = append(want, Record(record("People", 1, 5))...)
	want = append(want, Record(record("Orders", 2, 6))...)
	must.OK(t, f.Begin(fs, want, nil))
	t.Cleanup(f.Close)
	return fs, f
}

// TestContent checks that Read returns the newest record of each table that was not dropped.
func TestContent(t *testing.T) {
	fs, f := begin(t)
	people, newest := record("People", 1, 9)
	for _, line := range [][]byte{Record(people, newest), Record(record("People", 1, 7)), Drop(table.Incarnation{2}), line("of a later version")} {
		if f.Add(line) {
			t.Error("it should be written again")
		}
	}
	c := read(t, fs)
	if len(c.Records) != 1 || !bytes.Equal(c.Records[people], newest) || !c.Dropped[table.Incarnation{2}] || c.Format != 2 || c.Damaged != 0 {
		t.Errorf("it has %+v", c)
	}
	if f.Add(line("%s", make([]byte, 2<<20))) != true {
		t.Error("a file that is too long should be written again")
	}
}

// TestDamaged checks that Read ignores a line if any bit of the line is wrong. An incomplete last line is not
// damage, because the process may have ended while it wrote this line.
func TestDamaged(t *testing.T) {
	fs, _ := begin(t)
	good := read(t, fs)
	path := fs.PathJoin("data", Name)
	put := func(b []byte) {
		t.Helper()
		f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
		must.OK(t, err)
		_, err = f.Write(b)
		must.OK(t, errors.Join(err, f.Close()))
	}
	for i := range 8 * len(good.Text) {
		b := slices.Clone(good.Text)
		b[i/8] ^= 1 << (i % 8)
		put(b)
		c := read(t, fs)
		for k, v := range c.Records {
			if !bytes.Equal(v, good.Records[k]) {
				t.Fatalf("bit %d: the record %q is another one", i, k)
			}
		}
		whole := len(c.Records) == 2 && c.Format == 2
		if whole || c.Damaged == 0 && i/8 < len(good.Text)-1 {
			t.Fatalf("bit %d: %+v", i, c)
		}
	}
	put(good.Text[:len(good.Text)-3])
	if c := read(t, fs); len(c.Records) != 1 || c.Damaged != 0 {
		t.Errorf("a line without an end: %+v", c)
	}
}

// full is a file system without free space.
type full struct{ vfs.FS }

var errFull = errors.New("no space")

func (full) OpenReadWrite(string, vfs.DiskWriteCategory, ...vfs.OpenOption) (vfs.File, error) {
	return nil, errFull
}

// TestGiveUp checks that GiveUp removes a file after a failed rewrite, and that Add then asks for a rewrite.
func TestGiveUp(t *testing.T) {
	fs, f := begin(t)
	f.fs = full{fs}
	if err := f.Rewrite(Head(2)); !errors.Is(err, errFull) {
		t.Fatal(err)
	}
	var told string
	f.logf = func(format string, args ...any) { told = fmt.Sprintf(format, args...) }
	f.GiveUp(errFull)
	if c := read(t, fs); c.Format != 0 || told == "" || !f.Add(Drop(table.Incarnation{1})) {
		t.Errorf("it is still there: %+v; told: %q", c, told)
	}
}
