package main

import (
	"context"
	"encoding/binary"
	"errors"
	"math"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/edm"
)

// namespace calls Workers KV through the JavaScript shell, which receives frames
//
//	operation, one byte
//	name                               to get
//	end, writes                        to write
//	prefix, cursor, limit in 4 bytes   to list
//
// and returns a frame of one byte, the outcome, and
//
//	value, metadata                    of a get; metadata that is not a string is empty
//	outcome and reason, …              of each write
//	next cursor, name, metadata, …     of a list
//	reason                             of a failure
//
// The shell starts no write after the time end (milliseconds since 1970, a float64) or after a failed write, and
// reports such writes as refused. A write is three frames: one byte (1 to delete) followed by the name; the value; the
// metadata.
type namespace struct {
	call func(request frames) (answer frames) // the caller owns the memory of the answer
	// writesUntil is the time after which no write may begin, or 0 if there are only reads.
	writesUntil edm.Ticks
}

// These are the operations. A request must be allocated with its final size: if it grew while the garbage collector
// ran, its beginning was zeroed in workerd.
const (
	kvGet   = "g"
	kvWrite = "w"
	kvList  = "l"
)

const (
	kvDone = iota
	kvNone
	kvRefused
	kvCursor
	kvFailed
)

var _ workerskv.Namespace = (*namespace)(nil)

var errAnswer = errors.New("unknown form of the shell's answer")

func (n *namespace) do(ctx context.Context, request frames) (answer frames, none bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	became, answer, _ := n.call(request).next()
	if len(became) != 1 {
		return nil, false, errAnswer
	}
	reason, _, _ := answer.next()
	err = outcome(became[0], reason)
	return answer, became[0] == kvNone, err
}

func outcome(became byte, reason []byte) error {
	switch became {
	case kvDone, kvNone:
		return nil
	case kvRefused:
		return workerskv.ErrRefused
	case kvCursor:
		return workerskv.ErrCursor
	}
	return errors.New("KV: " + string(reason))
}

// Get implements [workerskv.Namespace].
func (n *namespace) Get(ctx context.Context, name string) (value, metadata []byte, ok bool, err error) {
	answer, none, err := n.do(ctx, make(frames, 0, 5+4+len(name)).addText(kvGet).addText(name))
	if none || err != nil {
		return nil, nil, false, err
	}
	value, answer, _ = answer.next()
	if metadata, _, ok = answer.next(); !ok {
		return nil, nil, false, errAnswer
	}
	if len(metadata) == 0 {
		metadata = nil
	}
	return value, metadata, true, nil
}

// Write implements [workerskv.Namespace].
func (n *namespace) Write(ctx context.Context, writes []workerskv.Write) []error {
	size := 5 + 12
	for i := range writes {
		w := &writes[i]
		size += 3*4 + 1 + len(w.Name) + len(w.Value) + len(w.Metadata)
	}
	end := binary.LittleEndian.AppendUint64(nil, math.Float64bits(unixMilli(n.writesUntil)))
	request := make(frames, 0, size).addText(kvWrite).add(end)
	for i := range writes {
		w, gone := &writes[i], byte(0)
		if w.Delete {
			gone = 1
		}
		request = append(binary.LittleEndian.AppendUint32(request, uint32(1+len(w.Name))), gone)
		request = append(request, w.Name...).add(w.Value).add(w.Metadata)
	}
	answer, _, err := n.do(ctx, request)
	became := make([]error, len(writes))
	for i := range became {
		var one []byte
		if one, answer, _ = answer.next(); err == nil && len(one) > 0 {
			became[i] = outcome(one[0], one[1:])
		} else if became[i] = err; err == nil {
			became[i] = errAnswer
		}
	}
	return became
}

// List implements [workerskv.Namespace].
func (n *namespace) List(ctx context.Context, prefix, cursor string, limit int) ([]workerskv.Key, string, error) {
	count := binary.LittleEndian.AppendUint32(nil, uint32(limit))
	answer, _, err := n.do(ctx, make(frames, 0, 5+4+len(prefix)+4+len(cursor)+8).addText(kvList).addText(prefix).addText(cursor).add(count))
	if err != nil {
		return nil, "", err
	}
	next, answer, ok := answer.next()
	if !ok {
		return nil, "", errAnswer
	}
	keys := make([]workerskv.Key, 0, answer.count()/2)
	for len(answer) > 0 {
		var name, metadata []byte
		name, answer, _ = answer.next()
		if metadata, answer, ok = answer.next(); !ok {
			return nil, "", errAnswer
		}
		if len(metadata) == 0 {
			metadata = nil
		}
		keys = append(keys, workerskv.Key{Name: string(name), Metadata: metadata})
	}
	return keys, string(next), nil
}
