package offline

import (
	"fmt"

	"edgetable/adapters/store/pebblestore"
	"edgetable/adapters/store/pebblestore/internal/layout"
	"edgetable/core/key"
	"edgetable/core/table"
)

// Report is the result of [Check].
type Report struct {
	Tables   int
	Entities int64 // number of entities, including those of the tables in Recovered
	Bytes    int64 // total size of keys and values
	// Recovered lists the tables whose names are lost, with the new names that Check gives them.
	Recovered []table.RecordKey
	// Problems describes each damage in one sentence. If Problems is empty, a server can start and can read everything.
	Problems []string
	// Refused reports that a start fails even with pebblestore.Options.AcceptDamage.
	Refused bool
}

// checker checks the records and entities of a store. It copies them to a new store if out is set.
type checker struct {
	out      *pebblestore.Loader // new store for the readable data; may be nil
	live     map[table.Incarnation]bool
	report   Report
	progress func(int64)
}

func (c *checker) problem(format string, args ...any) {
	c.report.Problems = append(c.report.Problems, fmt.Sprintf(format, args...))
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
	return c.save(layout.RecordKey(k), v)
}

// checkEntity checks an entity and copies it to the new store.
func (c *checker) checkEntity(k, v []byte) error {
	c.report.Entities++
	c.report.Bytes += int64(len(k) + len(v))
	if c.progress != nil && c.report.Entities%10_000 == 0 {
		c.progress(c.report.Entities)
	}
	row, err := table.ParseRow(k[layout.PrefixLength:], v)
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
	return c.out.Set(k, v)
}

func (c *checker) flush() error {
	if c.out == nil {
		return nil
	}
	return c.out.Flush()
}

// describe returns a readable description of a stored key for messages.
func describe(k []byte) string {
	switch {
	case len(k) == 0:
		return "the beginning"
	case k[0] == layout.Records:
		return fmt.Sprintf("the record %q", k[1:])
	case k[0] == layout.Entities && len(k) > layout.PrefixLength:
		partition, row := key.Decode(k[layout.PrefixLength:])
		return fmt.Sprintf("(PartitionKey=%q, RowKey=%q) of the table with the internal ID %x", partition, row, k[1:layout.PrefixLength])
	}
	return fmt.Sprintf("key %x", k)
}
