// Package rowstest implements the storage of a Durable Object in memory, for tests.
package rowstest

import (
	"bytes"
	"iter"
	"slices"
	"sort"
)

// Rows is the reference implementation of engine.Rows: a sorted list with an undo log. It is as strict as the
// interface permits: each call overwrites the memory that the previous call returned.
type Rows struct {
	Rows  []Row
	Bytes int64 // result of Size; 0 means the size of all rows plus the field Beside
	// Beside is the size of other rows in the database, which the test simulates. The method Size adds this
	// number of bytes to the size of all rows.
	Beside int64
	// Touched is called for each row that is looked up, read in a scan, written or deleted. It may be nil.
	Touched func(key []byte, writes bool)
	undo    []func()
	lent    []byte
}

// Row is one row.
type Row struct{ Key, Value []byte }

// Begin begins a transaction.
func (o *Rows) Begin() { o.undo = o.undo[:0] }

// Rollback undoes the transaction.
func (o *Rows) Rollback() {
	for _, u := range slices.Backward(o.undo) {
		u()
	}
	o.undo = o.undo[:0]
}

func (o *Rows) touch(key []byte, writes bool) {
	if o.Touched != nil {
		o.Touched(key, writes)
	}
}

// lend joins texts. The next call overwrites the memory of the result.
func (o *Rows) lend(b ...[]byte) []byte {
	o.spoil()
	for _, part := range b {
		o.lent = append(o.lent, part...)
	}
	return o.lent
}

func (o *Rows) spoil() {
	for i := range o.lent {
		o.lent[i] = 0xAA
	}
	o.lent = o.lent[:0]
}

// At searches for a key. It returns the index of the key. If the key does not exist, it returns the index at
// which the key would be inserted.
func (o *Rows) At(key []byte) (int, bool) {
	i := sort.Search(len(o.Rows), func(i int) bool { return bytes.Compare(o.Rows[i].Key, key) >= 0 })
	return i, i < len(o.Rows) && bytes.Equal(o.Rows[i].Key, key)
}

// Get implements engine.Rows.
func (o *Rows) Get(key []byte) ([]byte, bool) {
	o.touch(key, false)
	i, ok := o.At(key)
	if !ok {
		o.spoil()
		return nil, false
	}
	return o.lend(o.Rows[i].Value), true
}

// Put implements engine.Rows.
func (o *Rows) Put(key, value []byte) {
	key, value = bytes.Clone(key), append([]byte{}, value...)
	o.touch(key, true)
	defer o.spoil()
	i, ok := o.At(key)
	if !ok {
		o.Rows = slices.Insert(o.Rows, i, Row{key, value})
		o.undo = append(o.undo, func() { o.remove(key) })
		return
	}
	old := o.Rows[i].Value
	o.Rows[i].Value = value
	o.undo = append(o.undo, func() {
		i, _ := o.At(key)
		o.Rows[i].Value = old
	})
}

func (o *Rows) remove(key []byte) {
	if i, ok := o.At(key); ok {
		o.Rows = slices.Delete(o.Rows, i, i+1)
	}
}

// Delete implements engine.Rows.
func (o *Rows) Delete(key []byte) {
	i, ok := o.At(key)
	if ok {
		old := o.Rows[i]
		o.touch(old.Key, true)
		o.remove(key)
		o.undo = append(o.undo, func() {
			i, _ := o.At(old.Key)
			o.Rows = slices.Insert(o.Rows, i, old)
		})
	}
	o.spoil()
}

// DeleteAll implements engine.Rows.
func (o *Rows) DeleteAll() { o.deleteAll(func(k []byte) bool { return k[0] != 'f' }) }

// DropDay implements engine.Rows.
func (o *Rows) DropDay(day uint32) {
	prefix := []byte{'f', byte(day >> 16), byte(day >> 8), byte(day)}
	o.deleteAll(func(k []byte) bool { return bytes.HasPrefix(k, prefix) })
}

func (o *Rows) deleteAll(which func(k []byte) bool) {
	old := o.Rows
	o.Rows = nil
	for _, r := range old {
		if !which(r.Key) {
			o.Rows = append(o.Rows, r)
		}
	}
	o.undo = append(o.undo, func() { o.Rows = old })
	o.spoil()
}

// Size implements engine.Rows.
func (o *Rows) Size() (n int64) {
	if o.Bytes != 0 {
		return o.Bytes
	}
	n = o.Beside
	for _, r := range o.Rows {
		n += int64(len(r.Key) + len(r.Value))
	}
	return n
}

// Scan implements engine.Rows.
func (o *Rows) Scan(from, to []byte, _ int) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		i, _ := o.At(from)
		for ; i < len(o.Rows) && bytes.Compare(o.Rows[i].Key, to) < 0; i++ {
			o.touch(o.Rows[i].Key, false)
			b := o.lend(o.Rows[i].Key, o.Rows[i].Value)
			n := len(o.Rows[i].Key)
			if !yield(b[:n:n], b[n:]) {
				return
			}
		}
	}
}

// ScanBack implements engine.Rows.
func (o *Rows) ScanBack(from, to []byte, _ int) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		i, _ := o.At(to)
		for i--; i >= 0 && bytes.Compare(o.Rows[i].Key, from) >= 0; i-- {
			o.touch(o.Rows[i].Key, false)
			b := o.lend(o.Rows[i].Key, o.Rows[i].Value)
			n := len(o.Rows[i].Key)
			if !yield(b[:n:n], b[n:]) {
				return
			}
		}
	}
}
