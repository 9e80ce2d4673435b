package main

import (
	"context"
	"encoding/binary"
	"errors"

	"edgetable/adapters/workerskv"
	"edgetable/core/edm"
)

// namespace is Workers KV through the shell, which takes frames
//
//	what to do, one byte
//	name                               to get or delete
//	name, value, metadata              to put
//	prefix, cursor, limit in 4 bytes   to list
//
// and gives back a frame of one byte, what became of it, and
//
//	value, metadata                    of what was got; metadata that is no string is empty
//	where to go on, name, metadata, …  of a list
//	why it failed
type namespace struct {
	now  func() edm.Ticks
	call func(request frames) (answer frames) // which are the caller's
	// until is when nothing is written any more, 0: never.
	until edm.Ticks
}

// What to do.
const (
	kvGet    = 'g'
	kvPut    = 'p'
	kvDelete = 'd'
	kvList   = 'l'
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
	switch became[0] {
	case kvDone:
		return answer, false, nil
	case kvNone:
		return nil, true, nil
	case kvRefused:
		return nil, false, workerskv.ErrRefused
	case kvCursor:
		return nil, false, workerskv.ErrCursor
	}
	reason, _, _ := answer.next()
	return nil, false, errors.New("KV: " + string(reason))
}

func (n *namespace) write(ctx context.Context, request frames) error {
	if n.until != 0 && n.now() >= n.until {
		return workerskv.ErrRefused
	}
	_, _, err := n.do(ctx, request)
	return err
}

// Get implements [workerskv.Namespace].
func (n *namespace) Get(ctx context.Context, name string) (value, metadata []byte, ok bool, err error) {
	answer, none, err := n.do(ctx, frames(nil).add([]byte{kvGet}).addText(name))
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

// Put implements [workerskv.Namespace].
func (n *namespace) Put(ctx context.Context, name string, value, metadata []byte) error {
	request := make(frames, 0, 5+4+len(name)+4+len(value)+4+len(metadata))
	return n.write(ctx, request.add([]byte{kvPut}).addText(name).add(value).add(metadata))
}

// Delete implements [workerskv.Namespace].
func (n *namespace) Delete(ctx context.Context, name string) error {
	return n.write(ctx, frames(nil).add([]byte{kvDelete}).addText(name))
}

// List implements [workerskv.Namespace].
func (n *namespace) List(ctx context.Context, prefix, cursor string, limit int) ([]workerskv.Key, string, error) {
	count := binary.LittleEndian.AppendUint32(nil, uint32(limit))
	answer, _, err := n.do(ctx, frames(nil).add([]byte{kvList}).addText(prefix).addText(cursor).add(count))
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
