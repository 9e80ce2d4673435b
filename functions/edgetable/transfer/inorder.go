package transfer

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"edgetable/core/key"
	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/functions/edgetable/transfer/sorter"
)

// read passes the rows of a source to a callback in key order, so that batches become full. If inOrder is not set, it
// first sorts the rows. If several rows have the same keys, it passes only the last one.
func (o *Import) read(r rows.Reader, file string, inOrder bool, pass func(rows.Row) error, refuse func(rows.Reject) error) (dropped int64, err error) {
	var s *sorter.Sorter
	if !inOrder {
		s = sorter.New(cmp.Or(o.memory, sorter.Memory))
		defer func() { err = errors.Join(err, s.Close()) }()
	}
	var held rows.Row // previous row, which is passed on when a row with other keys follows
	var heldKey, nextKey []byte
	isHeld := false
	for {
		one, err := r.Next()
		o.Progress.Input.Rows.Add(1)
		bad, isBad := errors.AsType[*rows.Bad](err)
		switch {
		case err == io.EOF && s != nil:
			return s.Each(pass)
		case err == io.EOF && isHeld:
			return dropped, pass(held)
		case err == io.EOF:
			return dropped, nil
		case isBad:
			err = refuse(rows.Reject{File: file, Line: bad.Line, Reason: bad.Reason, Text: bad.Text})
		case err != nil:
			err = fmt.Errorf("about %s: %w", rows.Where(file, one.Line), err)
		case s != nil:
			err = s.Add(one)
		default:
			nextKey = key.Append(nextKey[:0], one.PartitionKey, one.RowKey)
			switch order := bytes.Compare(heldKey, nextKey); {
			case isHeld && order > 0:
				err = fmt.Errorf("%s was changed while it was read", file)
			case isHeld && order == 0:
				dropped++
			case isHeld:
				err = pass(held)
			}
			held, isHeld = one, true
			heldKey, nextKey = nextKey, heldKey
		}
		if err != nil {
			return dropped, err
		}
	}
}

// isInKeyOrder reports whether the rows of a file are in key order. Rows that the import rejects later count too, so
// they can cause unnecessary sorting.
func isInKeyOrder(r rows.Reader) (bool, error) {
	var last, next []byte
	for {
		var err error
		next, err = rows.AppendKey(next[:0], r)
		_, isBad := errors.AsType[*rows.Bad](err)
		switch {
		case err == io.EOF:
			return true, nil
		case isBad:
			continue
		case err != nil:
			return false, err
		}
		if bytes.Compare(last, next) > 0 {
			return false, nil
		}
		last, next = next, last
	}
}
