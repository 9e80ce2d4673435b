package durableobject_test

import (
	"bytes"
	"iter"
	"slices"
	"sort"

	"edgetable/adapters/store/durableobject/object"
)

// ordered is the reference of object.Rows: a sorted list, and a log of what a
// transaction undoes. It is as hostile as Rows allows: what it returned is
// overwritten by its next call.
type ordered struct {
	rows []row
	undo []func()
	lent []byte
	size int64 // as it says
}

type row struct{ key, value []byte }

var _ object.Rows = (*ordered)(nil)

func (o *ordered) begin() { o.undo = o.undo[:0] }

func (o *ordered) rollback() {
	for _, u := range slices.Backward(o.undo) {
		u()
	}
	o.undo = o.undo[:0]
}

// lend is a copy of b that the next call spoils.
func (o *ordered) lend(b ...[]byte) []byte {
	o.spoil()
	for _, part := range b {
		o.lent = append(o.lent, part...)
	}
	return o.lent
}

func (o *ordered) spoil() {
	for i := range o.lent {
		o.lent[i] = 0xAA
	}
	o.lent = o.lent[:0]
}

// at is where a key is, or belongs.
func (o *ordered) at(key []byte) (int, bool) {
	i := sort.Search(len(o.rows), func(i int) bool { return bytes.Compare(o.rows[i].key, key) >= 0 })
	return i, i < len(o.rows) && bytes.Equal(o.rows[i].key, key)
}

func (o *ordered) Get(key []byte) ([]byte, bool) {
	i, ok := o.at(key)
	if !ok {
		o.spoil()
		return nil, false
	}
	return o.lend(o.rows[i].value), true
}

func (o *ordered) Put(key, value []byte) {
	key, value = bytes.Clone(key), append([]byte{}, value...)
	defer o.spoil()
	i, ok := o.at(key)
	if !ok {
		o.rows = slices.Insert(o.rows, i, row{key, value})
		o.undo = append(o.undo, func() { o.remove(key) })
		return
	}
	old := o.rows[i].value
	o.rows[i].value = value
	o.undo = append(o.undo, func() {
		i, _ := o.at(key)
		o.rows[i].value = old
	})
}

func (o *ordered) remove(key []byte) {
	if i, ok := o.at(key); ok {
		o.rows = slices.Delete(o.rows, i, i+1)
	}
}

func (o *ordered) Delete(key []byte) {
	i, ok := o.at(key)
	if ok {
		old := o.rows[i]
		o.remove(key)
		o.undo = append(o.undo, func() {
			i, _ := o.at(old.key)
			o.rows = slices.Insert(o.rows, i, old)
		})
	}
	o.spoil()
}

func (o *ordered) DeleteAll() {
	old := o.rows
	o.rows = nil
	o.undo = append(o.undo, func() { o.rows = old })
	o.spoil()
}

func (o *ordered) Size() int64 { return o.size }

func (o *ordered) Scan(from, to []byte, _ int) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		i, _ := o.at(from)
		for ; i < len(o.rows) && bytes.Compare(o.rows[i].key, to) < 0; i++ {
			b := o.lend(o.rows[i].key, o.rows[i].value)
			n := len(o.rows[i].key)
			if !yield(b[:n:n], b[n:]) {
				return
			}
		}
	}
}
