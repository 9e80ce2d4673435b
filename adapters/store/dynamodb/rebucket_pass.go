package dynamodb

import (
	"bytes"
	"context"
)

// difference is an entity that the copy does not have as the table has it.
type difference struct {
	key  []byte
	copy *head // what the copy has; nil is none
}

const (
	maxGroup     = 90 // actions of a transaction, of at most 100
	maxLastGroup = 49 // with a condition each on what is copied
	reportEvery  = 10_000
)

// pass compares table and copy, in the order of their keys, and brings the copy up
// to date. Where it is the last, each entity is copied on the condition that it
// is still what is copied.
func (m *mover) pass(ctx context.Context, last bool) error {
	m.Rows, m.Copied, m.Deleted = 0, 0, 0
	if err := m.Report(m.RebucketProgress); err != nil {
		return err
	}
	from, err := m.heads(ctx, m.from)
	if err != nil {
		return err
	}
	defer from.close()
	to, err := m.heads(ctx, m.to)
	if err != nil {
		return err
	}
	defer to.close()
	longest := maxGroup
	if last {
		longest = maxLastGroup
	}
	var group []difference
	size := 0
	for {
		a, b := from.first(), to.first()
		if a == nil && b == nil {
			break
		}
		order := 0
		switch {
		case b == nil:
			order = -1
		case a == nil:
			order = 1
		default:
			order = bytes.Compare(a.key, b.key)
		}
		if order < 0 || order == 0 && !a.same(b) {
			d := difference{key: a.key}
			if order == 0 {
				d.copy = b
			}
			group, size = append(group, d), size+a.size
		} else if order > 0 {
			group = append(group, difference{key: b.key, copy: b})
		}
		m.Rows++
		if len(group) == longest || size > maxTransact {
			if err := m.bring(ctx, group, last); err != nil {
				return err
			}
			group, size = group[:0], 0
		} else if m.Rows%reportEvery == 0 {
			if err := m.Report(m.RebucketProgress); err != nil {
				return err
			}
		}
		if last {
			if err := m.alive(ctx); err != nil {
				return err
			}
		}
		if order <= 0 {
			if err := from.advance(ctx); err != nil {
				return err
			}
		}
		if order >= 0 {
			if err := to.advance(ctx); err != nil {
				return err
			}
		}
	}
	if err := m.bring(ctx, group, last); err != nil {
		return err
	}
	return m.Report(m.RebucketProgress) // a pass that finds no difference has reported nothing yet
}
