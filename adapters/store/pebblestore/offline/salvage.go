package offline

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"edgetable/adapters/store/pebblestore/internal/layout"
	"edgetable/adapters/store/pebblestore/internal/recordcopy"
	"edgetable/adapters/store/pebblestore/internal/remains"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// records checks and copies the table records, and data of the store such as its identity. It returns the keys of the
// records.
func (c *checker) records(r *remains.Store) (keys []table.RecordKey, err error) {
	for versions := r.Next(layout.Meta); versions != nil; versions = r.Next(layout.Meta) {
		k := versions[0].Key
		v := r.Current(versions, func([]byte) edm.Ticks { return 0 })
		switch string(k) {
		case string(layout.FormatKey): // the new store has its own format version
			if len(v) == 4 {
				err = layout.CheckVersion(binary.BigEndian.Uint32(v))
			}
		case string(layout.ClockKey):
			for _, old := range versions { // use the highest reserved Timestamp of all versions, because no issued Timestamp is above it
				if len(old.Value) == 8 && (len(v) != 8 || binary.BigEndian.Uint64(old.Value) > binary.BigEndian.Uint64(v)) {
					v = old.Value
				}
			}
			err = c.save(k, v)
		case string(layout.IdentityKey): // the new store gets the identity of the damaged one
			err = c.save(k, v)
		default:
			if v != nil {
				err = c.save(k, v)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	stored := maps.Clone(r.Copied.Records)
	for versions := r.Next(layout.Records); versions != nil; versions = r.Next(layout.Records) {
		k := string(versions[0].Key[1:])
		v := r.Current(versions, recordcopy.Written)
		if v != nil && (stored[k] == nil || recordcopy.Written(v) >= recordcopy.Written(stored[k])) {
			stored[k] = v
		}
	}
	for _, k := range slices.Sorted(maps.Keys(stored)) {
		if err := c.takeRecord(k, stored[k]); err != nil {
			return nil, err
		}
		if key, ok := table.ParseRecordKey(k); ok {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// entities reads, checks and copies all entities. If the record of a table is lost, it creates a table with a new name.
func (c *checker) entities(r *remains.Store, keys []table.RecordKey) error {
	counts := map[table.Incarnation]int{}
	for versions := r.Next(layout.Entities); versions != nil; versions = r.Next(layout.Entities) {
		k := versions[0].Key
		if len(k) <= layout.PrefixLength {
			c.problem("the key %x is not the key of an entity", k)
			continue
		}
		v := r.Current(versions, writtenRow)
		i := table.Incarnation(k[1:layout.PrefixLength])
		if v == nil || !c.live[i] && r.Copied.Dropped[i] {
			continue
		}
		if !c.live[i] {
			counts[i]++
		}
		if err := c.checkEntity(k, v); err != nil {
			return err
		}
	}
	names := map[table.RecordKey]bool{}
	account := "devstoreaccount1" // this is the only account of a server for which no account was created
	for _, k := range keys {
		names[k] = true
		if k.Table != "" {
			account = k.Account
		}
	}
	n := 0
	for _, i := range slices.SortedFunc(maps.Keys(counts), func(a, b table.Incarnation) int { return slices.Compare(a[:], b[:]) }) {
		name := table.Name{Account: account}
		for name.Table == "" || names[name.Key()] {
			n++
			name.Table = fmt.Sprintf("Recovered%d", n)
		}
		record := table.NewRecord(name, i)
		c.report.Recovered = append(c.report.Recovered, record.Key)
		c.problem("the name of the table with the internal ID %x is lost: its new name is %s, in the account %s (%d entities)", i, name.Table, account, counts[i])
		if err := c.takeRecord(record.Key.String(), table.AppendRecord(nil, &record, 1)); err != nil {
			return err
		}
	}
	return nil
}

// writtenRow returns the Timestamp of a stored entity, or 0 if the value is not an entity.
func writtenRow(v []byte) edm.Ticks {
	row, err := table.ParseRow(nil, v)
	if err != nil {
		return 0
	}
	return row.Timestamp
}
