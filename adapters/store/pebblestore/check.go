package pebblestore

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/core/key"
	"edgetable/core/table"
)

// Report is the result of [Check].
type Report struct {
	Tables   int
	Entities int64
	Bytes    int64 // of keys and values
	// Orphans are entities without a table, which a deletion leaves for a while.
	Orphans int64
	// Problems are sentences about damage; an empty list means that everything can
	// be read.
	Problems []string
}

// Check reads each block, record and entity in the data directory of a server
// that does not run. It changes nothing. If salvage names a new directory, Check
// also writes the readable data to a store there. It calls progress, unless nil,
// with the number of entities read so far. An error means that the check could
// not finish; damage is in the report.
func Check(o Options, salvage string, progress func(entities int64)) (Report, error) {
	o = o.withDefaults()
	if salvage != "" {
		if _, err := o.FS.Stat(salvage); !errors.Is(err, fs.ErrNotExist) {
			return Report{}, fmt.Errorf("%s: %w; name a new directory for what can be saved", salvage, cmp.Or(err, fs.ErrExist))
		}
	}
	db, logs, err := openToRead(o)
	if err != nil {
		return Report{}, fmt.Errorf("check %s: %w", o.Dir, err)
	}
	defer db.Close() // nothing was written
	c := checker{db: db, live: map[table.Incarnation]bool{}, progress: progress}
	c.report.Problems = logs.inspected.lost
	if salvage == "" {
		err := c.run()
		return c.report, err
	}
	out, err := Open(Options{Dir: salvage, FS: o.FS, Logf: o.Logf})
	if err != nil {
		return c.report, err
	}
	c.out = out.db
	err = errors.Join(c.run(), out.Close())
	return c.report, err
}

// openToRead opens the database of a directory without changes to it.
func openToRead(o Options) (*pebble.DB, *logFiles, error) {
	names, err := o.FS.List(o.Dir)
	if err != nil {
		return nil, nil, err
	}
	if err := checkMarker(names); err != nil {
		return nil, nil, err
	}
	o.Logf = func(string, ...any) {} // the report contains all problems
	s := &Store{fatal: o.Fatal, journal: new(journal)}
	p := o.pebble(s)
	p.ReadOnly = true
	lock, err := pebble.LockDirectory(o.Dir, o.FS)
	if err != nil {
		return nil, nil, ErrInUse
	}
	defer lock.Close() // Pebble keeps the lock
	p.Lock = lock
	l := &logFiles{FS: o.FS, dir: o.Dir, onLoss: showReadable, views: vfs.NewMem(), logf: o.Logf}
	l.replaying.Store(true)
	missing, err := l.read()
	if err != nil {
		return nil, nil, err
	}
	if len(missing) > 0 {
		l.inspected.lost = append(l.inspected.lost, missingLogs(missing))
	}
	p.FS = l
	db, err := pebble.Open(o.Dir, p)
	return db, l, explain(err)
}

// checker reads a store from its first key to its last.
type checker struct {
	db       *pebble.DB
	out      *pebble.DB // for the readable data, or nil
	batch    *pebble.Batch
	live     map[table.Incarnation]bool
	report   Report
	progress func(int64)
}

func (c *checker) run() error {
	from := []byte{spaceMeta} // the least key; an empty bound makes Pebble panic under the race detector
	for from != nil {
		last, err := c.forward(from)
		if err == nil {
			break
		}
		if from, err = c.skip(last, err); err != nil {
			return err
		}
	}
	return c.flush()
}

// forward reads from a key to the end, and returns the last key before an
// error.
func (c *checker) forward(from []byte) (last []byte, err error) {
	it, err := c.db.NewIter(&pebble.IterOptions{LowerBound: from})
	if err != nil {
		return from, err
	}
	last = from
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return last, errors.Join(err, it.Close())
		}
		last = append(last[:0:0], it.Key()...)
		if err := c.take(it.Key(), v); err != nil {
			return last, errors.Join(err, it.Close())
		}
	}
	return last, errors.Join(it.Error(), it.Close())
}

// skip reads a damaged file backwards from its end, as far as possible, and
// returns the key after it, from which to continue.
func (c *checker) skip(last []byte, err error) (next []byte, _ error) {
	info := pebble.ExtractDataCorruptionInfo(err)
	if info == nil {
		return nil, err
	}
	end := append(bytes.Clone(info.Bounds.End.Key), 0)
	if bytes.Compare(end, last) <= 0 {
		return nil, err
	}
	it, err := c.db.NewIter(&pebble.IterOptions{LowerBound: append(bytes.Clone(last), 0), UpperBound: end})
	if err != nil {
		return nil, err
	}
	first := end
	for ok := it.Last(); ok; ok = it.Prev() {
		v, err := it.ValueAndErr()
		if err != nil {
			break
		}
		first = bytes.Clone(it.Key())
		if err := c.take(it.Key(), v); err != nil {
			return nil, errors.Join(err, it.Close())
		}
	}
	it.Close() // its error is the known damage
	c.report.Problems = append(c.report.Problems, fmt.Sprintf("%s cannot be read between %s and %s: %s",
		info.Path, describe(last), describe(first), cause(info.Details)))
	return end, nil
}

// take checks one key and saves it.
func (c *checker) take(k, v []byte) error {
	problem := ""
	switch {
	case len(k) == 0:
		problem = "there is an empty key"
	case k[0] == spaceRecords:
		r, err := parseStored(k, v)
		if err != nil {
			problem = fmt.Sprintf("the record %q: %v", k[1:], err)
			break
		}
		if r.Incarnation != (table.Incarnation{}) {
			c.live[r.Incarnation] = true
			c.report.Tables++
		}
	case k[0] == spaceEntities && len(k) > prefixLength:
		c.report.Entities++
		c.report.Bytes += int64(len(k) + len(v))
		if c.progress != nil && c.report.Entities%10_000 == 0 {
			c.progress(c.report.Entities)
		}
		row, err := table.ParseRow(k[prefixLength:], v)
		if err != nil || !row.Properties.Valid() {
			problem = "the entity " + describe(k) + " is not valid"
		}
		if !c.live[table.Incarnation(k[1:prefixLength])] {
			c.report.Orphans++
		}
	case k[0] != spaceMeta:
		problem = fmt.Sprintf("the key %x belongs to nothing", k)
	}
	if problem != "" {
		c.report.Problems = append(c.report.Problems, problem)
		return nil
	}
	return c.save(k, v)
}

// save copies a key and its value. The new store has its own format key.
func (c *checker) save(k, v []byte) error {
	if c.out == nil || bytes.Equal(k, formatKey) {
		return nil
	}
	if c.batch == nil {
		c.batch = c.out.NewBatch()
	}
	if err := c.batch.Set(k, v, nil); err != nil {
		return err
	}
	if c.batch.Len() < 1<<20 {
		return nil
	}
	return c.flush()
}

func (c *checker) flush() error {
	if c.batch == nil {
		return nil
	}
	b := c.batch
	c.batch = nil
	return errors.Join(c.out.Apply(b, pebble.NoSync), b.Close())
}

// describe names a stored key for a person.
func describe(k []byte) string {
	switch {
	case len(k) == 0:
		return "the beginning"
	case k[0] == spaceRecords:
		return fmt.Sprintf("the record %q", k[1:])
	case k[0] == spaceEntities && len(k) > prefixLength:
		partition, row := key.Decode(k[prefixLength:])
		return fmt.Sprintf("(PartitionKey=%q, RowKey=%q) of table incarnation %x", partition, row, k[1:prefixLength])
	}
	return fmt.Sprintf("key %x", k)
}
