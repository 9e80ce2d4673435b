//go:build !kv

package main

import (
	"encoding/binary"
	"iter"
	"unsafe"

	"edgetable/adapters/store/durableobject/engine"
)

//go:wasmimport edge row_get
func hostRowGet(k unsafe.Pointer, n uint32) int32

//go:wasmimport edge row_put
func hostRowPut(k unsafe.Pointer, kn uint32, v unsafe.Pointer, vn uint32)

//go:wasmimport edge row_delete
func hostRowDelete(k unsafe.Pointer, n uint32)

//go:wasmimport edge row_delete_all
func hostRowDeleteAll()

//go:wasmimport edge row_drop_day
func hostRowDropDay(day uint32)

//go:wasmimport edge row_size
func hostRowSize() float64

//go:wasmimport edge row_scan
func hostRowScan(r unsafe.Pointer, n uint32) uint32

// rows implements [engine.Rows] for the current object. Its results are in the buffer.
type rows struct {
	request frames
	last    []byte
}

var _ engine.Rows = (*rows)(nil)

func (r *rows) Get(k []byte) ([]byte, bool) {
	n := hostRowGet(pointer(k), uint32(len(k)))
	if n < 0 {
		return nil, false
	}
	return shared.b[:n], true
}

func (r *rows) Put(k, v []byte) {
	hostRowPut(pointer(k), uint32(len(k)), pointer(v), uint32(len(v)))
}

func (r *rows) Delete(k []byte) { hostRowDelete(pointer(k), uint32(len(k))) }

func (r *rows) DeleteAll() { hostRowDeleteAll() }

func (r *rows) DropDay(day uint32) { hostRowDropDay(day) }

func (r *rows) Size() int64 { return int64(hostRowSize()) }

func (r *rows) Scan(from, to []byte, bytes int) iter.Seq2[[]byte, []byte] {
	return r.scan(from, to, bytes, false)
}

func (r *rows) ScanBack(from, to []byte, bytes int) iter.Seq2[[]byte, []byte] {
	return r.scan(from, to, bytes, true)
}

// scan asks the JavaScript shell with frames
//
//	requested size of the rows in bytes, in 4 bytes
//	from, to
//	an empty frame, if the order is descending
//
// and receives frames: an empty frame if no more rows follow, then the key and value of
// each row.
func (r *rows) scan(from, to []byte, bytes int, back bool) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		var wanted [4]byte
		binary.LittleEndian.PutUint32(wanted[:], uint32(bytes))
		for {
			r.request = r.request[:0].add(wanted[:]).add(from).add(to)
			if back {
				r.request = r.request.add(nil)
			}
			n := hostRowScan(pointer(r.request), uint32(len(r.request)))
			more, in, _ := frames(shared.b[:n]).next()
			var k, v []byte
			for len(in) > 0 {
				k, in, _ = in.next()
				v, in, _ = in.next()
				if len(in) == 0 { // copy the last key, because the next batch overwrites the buffer
					r.last = append(r.last[:0], k...)
					if !back {
						r.last = append(r.last, 0)
					}
				}
				if !yield(k, v) {
					return
				}
			}
			if len(more) == 0 {
				return
			}
			if back {
				to = r.last
			} else {
				from = r.last
			}
		}
	}
}
