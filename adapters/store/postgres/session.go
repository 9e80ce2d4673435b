package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// formats says that all parameters and results are binary.
var formats = []int16{1}

func int8Of(n int64) []byte { return binary.BigEndian.AppendUint64(make([]byte, 0, 8), uint64(n)) }

func int2Of(n int16) []byte { return binary.BigEndian.AppendUint16(make([]byte, 0, 2), uint16(n)) }

func int4Of(n uint32) []byte { return binary.BigEndian.AppendUint32(make([]byte, 0, 4), n) }

// bytesOf is a value that is not NULL.
func bytesOf(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// number reads an int8.
func number(b []byte) int64 {
	if len(b) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}

// Types of elements of arrays.
const (
	oidBytes = 17
	oidInt8  = 20
	oidText  = 25
)

// arrayOf is an array of one dimension, without NULL.
func arrayOf(oid uint32, elements [][]byte) []byte {
	n := 20
	for _, e := range elements {
		n += 4 + len(e)
	}
	b := make([]byte, 0, n)
	dimensions := uint32(1)
	if len(elements) == 0 {
		dimensions = 0
	}
	b = binary.BigEndian.AppendUint32(b, dimensions)
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint32(b, oid)
	if dimensions == 0 {
		return b
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(elements)))
	b = binary.BigEndian.AppendUint32(b, 1)
	for _, e := range elements {
		b = binary.BigEndian.AppendUint32(b, uint32(len(e)))
		b = append(b, e...)
	}
	return b
}

// query runs one statement. row gets values that it must not keep.
func query(ctx context.Context, c *pgconn.PgConn, s statement, row func(v [][]byte) error, args ...[]byte) (rows int64, err error) {
	r := c.ExecStatement(ctx, s.on(c), args, formats, formats)
	for r.NextRow() {
		if row != nil && err == nil {
			err = row(r.Values())
		}
	}
	tag, end := r.Close()
	if end != nil {
		return 0, end
	}
	return tag.RowsAffected(), err
}

// errWarned means that the database carried a write out with a warning: a wait for a
// standby was cancelled by somebody. The write is visible, and a failover may lose it.
var errWarned = errors.New("the database warned")

// warning returns the warning that a connection got, as an error, and forgets it.
func warning(c *pgconn.PgConn) error {
	text, ok := c.CustomData()[warned]
	if !ok {
		return nil
	}
	delete(c.CustomData(), warned)
	return fmt.Errorf("%w: %v", errWarned, text)
}
