package offline

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore"
	"edgetable/adapters/store/pebblestore/internal/layout"
	"edgetable/adapters/store/pebblestore/internal/logguard"
	"edgetable/adapters/store/pebblestore/internal/recordcopy"
	"edgetable/adapters/store/pebblestore/internal/remains"
	"edgetable/adapters/store/pebblestore/logship"
	"edgetable/core/table"
)

// Check reads all data in the directory of a server that is not running, and tries the steps of a start. It does not
// change the directory. The report lists all damage; an error means that Check could not finish.
//
// If salvage is not "", Check copies the readable data to a store in this new directory. progress may be nil.
func Check(o pebblestore.Options, salvage string, progress func(entities int64)) (Report, error) {
	if o.FS == nil {
		o.FS = vfs.Default
	}
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

func (c *checker) check(o pebblestore.Options, salvage string) (_ Report, err error) {
	if err := holdsStore(o); err != nil {
		return c.report, err
	}
	c.report.Problems, c.report.Refused, err = startProblems(o)
	if err != nil {
		return c.report, err
	}
	// startProblems has locked the directory itself, so the lock is acquired only now.
	lock, err := pebblestore.LockDirectory(o.FS, o.Dir)
	if err != nil {
		return c.report, err
	}
	defer lock.Close()
	copied, err := recordcopy.Read(o.FS, o.FS.PathJoin(o.Dir, recordcopy.Name))
	if err != nil {
		c.problem("%s cannot be read: %s", recordcopy.Name, logguard.Cause(err))
	}
	if err := layout.CheckVersion(copied.Format); err != nil {
		return c.report, err
	}
	r, err := remains.Open(remains.Options{FS: o.FS, Dir: o.Dir, Copied: copied, Prefix: layout.PrefixLength, Describe: describe})
	if err != nil {
		return c.report, err
	}
	if salvage == "" {
		err := c.run(r)
		return c.report, err
	}
	if c.out, err = pebblestore.NewLoader(pebblestore.Options{Dir: salvage, FS: o.FS, Logf: o.Logf}); err != nil {
		return c.report, err
	}
	err = errors.Join(c.run(r), c.out.CopyRecords(), c.out.Close(), logship.Inherit(o.FS, o.Dir, salvage))
	return c.report, err
}

// run checks all readable data. If c.out is set, run copies the data to the new store.
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

// holdsStore returns an error if the directory has no file of a store.
func holdsStore(o pebblestore.Options) error {
	names, err := o.FS.List(o.Dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if layout.IsStore(name) || isData(name) || name == recordcopy.Name {
			return nil
		}
	}
	return fmt.Errorf("%w: it contains no store", pebblestore.ErrForeign)
}

func isData(name string) bool {
	return strings.HasSuffix(name, ".log") || strings.HasSuffix(name, ".sst")
}

// startProblems returns why a server cannot start with the directory. The result final is true if
// pebblestore.Options.AcceptDamage does not help.
func startProblems(o pebblestore.Options) (problems []string, final bool, err error) {
	db, logs, err := pebblestore.OpenToRead(o)
	switch {
	case err == nil:
		return logs.Losses(), false, db.Close()
	case errors.Is(err, pebblestore.ErrForeign): // holdsStore has found files of edgetable, so only the format version is missing
		return []string{"a server cannot start with this directory: the format version of the store is lost"}, true, nil
	case errors.Is(err, pebblestore.ErrInUse), errors.Is(err, pebblestore.ErrNewer), errors.Is(err, table.ErrNewerForm), errors.Is(err, fs.ErrPermission): // this error does not mean damage
		return nil, false, err
	}
	problems = []string{fmt.Sprintf("a server cannot start with this directory: %s", logguard.Cause(err))}
	return append(problems, logguard.Losses(o.FS, o.Dir)...), true, nil
}
