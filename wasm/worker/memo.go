package main

import (
	"encoding/binary"
	"errors"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/edm"
)

// What a store in Workers KV remembers goes from an instance that has grown too
// large to the one in its place as a frame of
//
//	stamp, time, each in 8 bytes, and what it is: 1 deleted, 2 doubted
//
// and frames of name and body. The body is not copied where it comes from, as it
// may be large: the shell takes it from where it is.

const (
	memoDeleted = 1 << iota
	memoDoubted
)

var errMemo = errors.New("a memo is in no form that is known")

// appendMemo appends all of a memo but its body.
func appendMemo(dst frames, m *workerskv.Memo) frames {
	state := byte(0)
	if m.Body == nil {
		state |= memoDeleted
	}
	if m.Doubted {
		state |= memoDoubted
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(m.Stamp))
	b = binary.LittleEndian.AppendUint64(b, uint64(m.At))
	return dst.add(append(b, state)).addText(m.Name)
}

// readMemo reads a memo, which refers to f.
func readMemo(f frames) (m workerskv.Memo, err error) {
	head, f, _ := f.next()
	name, f, _ := f.next()
	body, _, ok := f.next()
	if !ok || len(head) != 17 {
		return m, errMemo
	}
	m.Stamp = edm.Ticks(binary.LittleEndian.Uint64(head))
	m.At = edm.Ticks(binary.LittleEndian.Uint64(head[8:]))
	m.Name, m.Body, m.Doubted = view(name), body, head[16]&memoDoubted != 0
	if head[16]&memoDeleted != 0 {
		m.Body = nil
	}
	return m, nil
}
