package offline

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/adapters/store/pebblestore"
	"edgetable/adapters/store/pebblestore/internal/layout"
	"edgetable/core/table"
)

// Extract copies one table of the store in o.Dir to a new store in dir, with Timestamps and access policies. It returns
// the number of entities. If o.Interrupt is closed, Extract ends with an error.
func Extract(o pebblestore.Options, key table.RecordKey, dir string) (entities int64, err error) {
	db, logs, err := pebblestore.OpenToRead(o)
	if err != nil {
		return 0, err
	}
	defer db.Close() // nothing was written, so an error of Close does not matter
	if damage := logs.Damage(); damage != nil {
		return 0, damage
	}
	record, err := layout.Get(db, layout.RecordKey(key.String()))
	if err != nil {
		return 0, err
	}
	if record == nil {
		return 0, fmt.Errorf("account %s has no table %s in this backup", key.Account, key.Table)
	}
	r, err := table.ParseRecord(key.String(), record)
	if err != nil {
		return 0, err
	}
	out, err := pebblestore.NewLoader(pebblestore.Options{Dir: dir, FS: o.FS, Logf: o.Logf, Interrupt: o.Interrupt})
	if err != nil {
		return 0, err
	}
	c := &checker{out: out}
	err = errors.Join(c.copyTable(db, key, record, r.Incarnation), out.Close())
	return c.report.Entities, err
}

// copyTable copies the record and the entities of a table, and the highest Timestamp that
// the clock has reserved.
func (c *checker) copyTable(db *pebble.DB, key table.RecordKey, record []byte, i table.Incarnation) error {
	reserved, err := layout.Get(db, layout.ClockKey)
	if err != nil {
		return err
	}
	if reserved != nil {
		if err := c.save(layout.ClockKey, reserved); err != nil {
			return err
		}
	}
	if err := c.save(layout.RecordKey(key.String()), record); err != nil {
		return err
	}
	if err := layout.ForEach(db, layout.AppendPrefix(nil, i), c.checkEntity); err != nil {
		return err
	}
	if n := len(c.report.Problems); n > 0 {
		return fmt.Errorf("%w: %s", pebblestore.ErrDamaged, c.report.Problems[0])
	}
	return c.flush()
}
