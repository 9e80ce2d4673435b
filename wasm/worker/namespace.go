package main

import (
	"context"
	"encoding/binary"
	"errors"
	"math"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/edm"
)

// namespace is Workers KV through the shell, which takes frames
//
//	what to do, one byte
//	name                               to get
//	end, writes                        to write
//	prefix, cursor, limit in 4 bytes   to list
//
// and gives back a frame of one byte, what became of it, and
//
//	value, metadata                    of what was got; metadata that is no string is empty
//	a byte and a reason, …             what became of each write
//	where to go on, name, metadata, …  of a list
//	why it failed
//
// No write begins behind the end, milliseconds since 1970 as a float64, nor behind
// one that failed: they are refused. A write is three frames: one byte, whether it
// deletes, with the name behind it; value; metadata.
type namespace struct {
	call func(request frames) (answer frames) // which are the caller's
	// until is when no write begins any more. Of who only reads it is 0.
	until edm.Ticks
}

// What to do. A request has all its room before it is filled: seen in workerd, the
// beginning of one was zeros after the collector had run while it grew.
const (
	kvGet   = "g"
	kvWrite = "w"
	kvList  = "l"
)

// What became of it.
const (
	kvDone = iota
	kvNone
	kvRefused
	kvCursor
	kvFailed
)

var _ workerskv.Namespace = (*namespace)(nil)

var errAnswer = errors.New("the shell's answer is in no form that is known")

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
	end := binary.LittleEndian.AppendUint64(nil, math.Float64bits(unixMilli(n.until)))
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
