package pebblestore

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/adapters/store/pebblestore/internal/logguard"
	"edgetable/adapters/store/pebblestore/internal/recordcopy"
	"edgetable/adapters/store/pebblestore/internal/remains"
	"edgetable/adapters/store/pebblestore/logship"
	"edgetable/core/key"
	"edgetable/core/table"
)

// Report is the result of [Check].
type Report struct {
	Tables   int
	Entities int64 // includes the entities of the tables in Recovered
	Bytes    int64 // total size of keys and values
	// Recovered lists the tables whose names are lost, with the new names that Check gives them.
	Recovered []table.RecordKey
	// Problems has one sentence for each damage. If Problems is empty, a server can start and can read
	// everything.
	Problems []string
	// Refused reports that a start fails even with Options.AcceptDamage.
	Refused bool
}

// Check reads each block, record and entity in the data directory of a server that is not running,
// and tries the steps of a start. It does not change the directory. If the parameter salvage is the
// path of a new directory, Check creates a store there with the readable data. Check passes the
// number of entities read so far to progress, unless progress is nil. An error means that the check
// could not finish. Damage is no error, but a part of the report.
func Check(o Options, salvage string, progress func(entities int64)) (Report, error) {
	o = o.withDefaults()
	if salvage != "" {
		if _, err := o.FS.Stat(salvage); !errors.Is(err, fs.ErrNotExist) {
			return Report{}, fmt.Errorf("%s: %w; name a new directory for the salvaged data", salvage, cmp.Or(err, fs.ErrExist))
		}
	}
	c := checker{progress: progress}
	r, err := c.check(o, salvage)
	if err != nil {
		return r, fmt.Errorf("check %s: %w", o.Dir, err)
	}
	return r, nil
}

func (c *checker) check(o Options, salvage string) (_ Report, err error) {
	if err := holdsStore(o); err != nil {
		return c.report, err
	}
	c.report.Problems, c.report.Refused, err = startProblems(o)
	if err != nil {
		return c.report, err
	}
	// startProblems has released the lock of the directory, so the check locks the directory now.
	lock, err := lockDirectory(o)
	if err != nil {
		return c.report, err
	}
	defer lock.Close()
	copied, err := recordcopy.Read(o.FS, o.FS.PathJoin(o.Dir, recordcopy.Name))
	if err != nil {
		c.problem("%s cannot be read: %s", recordcopy.Name, logguard.Cause(err))
	}
	if n := copied.Format; n > formatVersion {
		return c.report, newer(n)
	}
	r, err := remains.Open(remains.Options{FS: o.FS, Dir: o.Dir, Copied: copied, Prefix: prefixLength, Describe: describe})
	if err != nil {
		return c.report, err
	}
	if salvage == "" {
		err := c.run(r)
		return c.report, err
	}
	out, err := Open(Options{Dir: salvage, FS: o.FS, Logf: o.Logf})
	if err != nil {
		return c.report, err
	}
	c.out, c.identity = out.db, &out.identity
	err = errors.Join(c.run(r), out.rewriteCopies(), out.Close(), logship.Inherit(o.FS, o.Dir, salvage))
	return c.report, err
}

// holdsStore returns an error if the directory has no file of a store.
func holdsStore(o Options) error {
	names, err := o.FS.List(o.Dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if isStore(name) || isData(name) || name == recordcopy.Name {
			return nil
		}
	}
	return fmt.Errorf("%w: it contains no store", ErrForeign)
}

func isData(name string) bool {
	return strings.HasSuffix(name, ".log") || strings.HasSuffix(name, ".sst")
}

// startProblems returns the reasons why a server cannot start with the directory. refused reports that it cannot start even
// with Options.AcceptDamage.
func startProblems(o Options) (problems []string, refused bool, err error) {
	s, err := openToRead(o)
	switch {
	case err == nil:
		return s.logs.Lost(), false, s.db.Close()
	case errors.Is(err, ErrForeign): // holdsStore has found files of edgetable, so only the format version is missing
		return []string{"a server cannot start with this directory: the format version of the store is lost"}, true, nil
	case errors.Is(err, ErrInUse), errors.Is(err, ErrNewer), errors.Is(err, table.ErrNewerForm), errors.Is(err, fs.ErrPermission): // no damage
		return nil, false, err
	}
	return []string{fmt.Sprintf("a server cannot start with this directory: %s", logguard.Cause(err))}, true, nil
}

// checker checks the records and entities of a store. It copies them to a new store if out is set.
type checker struct {
	out      *pebble.DB              // new store for the readable data; may be nil
	identity *atomic.Pointer[string] // identity of the new store
	batch    *pebble.Batch
	live     map[table.Incarnation]bool
	report   Report
	progress func(int64)
}

func (c *checker) problem(format string, args ...any) {
	c.report.Problems = append(c.report.Problems, fmt.Sprintf(format, args...))
}

func (c *checker) run(r *remains.Store) error {
	c.live = map[table.Incarnation]bool{}
	tables, err := c.records(r)
	if err != nil {
		return err
	}
	if err := c.entities(r, tables); err != nil {
		return err
	}
	c.report.Problems = append(c.report.Problems, r.Problems()...)
	return c.flush()
}

// takeRecord checks a record and copies it to the new store.
func (c *checker) takeRecord(k string, v []byte) error {
	r, err := table.ParseRecord(k, v)
	if err != nil {
		c.problem("the record %q: %v", k, err)
		return nil
	}
	if r.Incarnation != (table.Incarnation{}) {
		c.live[r.Incarnation] = true
		c.report.Tables++
	}
	return c.save(recordKey(k), v)
}

// checkEntity checks an entity and copies it to the new store.
func (c *checker) checkEntity(k, v []byte) error {
	c.report.Entities++
	c.report.Bytes += int64(len(k) + len(v))
	if c.progress != nil && c.report.Entities%10_000 == 0 {
		c.progress(c.report.Entities)
	}
	row, err := table.ParseRow(k[prefixLength:], v)
	if err != nil || !row.Properties.Valid() {
		c.problem("the entity %s is not valid", describe(k))
		return nil
	}
	return c.save(k, v)
}

// save copies a key and its value to the new store, unless out is nil.
func (c *checker) save(k, v []byte) error {
	if c.out == nil {
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

// describe returns a readable description of a stored key for messages.
func describe(k []byte) string {
	switch {
	case len(k) == 0:
		return "the beginning"
	case k[0] == spaceRecords:
		return fmt.Sprintf("the record %q", k[1:])
	case k[0] == spaceEntities && len(k) > prefixLength:
		partition, row := key.Decode(k[prefixLength:])
		return fmt.Sprintf("(PartitionKey=%q, RowKey=%q) of the table with the internal ID %x", partition, row, k[1:prefixLength])
	}
	return fmt.Sprintf("key %x", k)
}
