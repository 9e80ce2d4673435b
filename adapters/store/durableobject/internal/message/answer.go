package message

import (
	"errors"

	"edgetable/core/buckets"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Status is the outcome of an operation.
type Status byte

// The statuses, each with the fields of its answer.
const (
	StatusDone    Status = iota // the fields of the operation's answer
	StatusMoved                 // field: Layout. The table has this layout instead of the one that the message assumes
	StatusForeign               // nothing was done. Either another range has the key (fields: bucket, Ranges), or the version or operation is unknown (no fields)
	StatusRefused               // fields: index of the refused mutation, reason
	StatusFailed                // field: text of the error, for the log
	StatusNoTable               // the statuses from here on, unless noted, are the errors with the same names in package table
	StatusNoEntity
	StatusNoDocument
	StatusRevision
	StatusBeingDeleted
	StatusBusy
	StatusUnknown
	StatusUnsupported
	StatusKeyTooLong
	StatusAgain // nothing was done; the sender must send the message again
	StatusMore  // a part was done; the sender must send the message again
	StatusNoFeed
)

// named contains the errors that have their own status.
var named = [...]struct {
	status Status
	err    error
}{
	{StatusNoEntity, table.ErrNoEntity},
	{StatusNoTable, table.ErrNoTable},
	{StatusNoDocument, table.ErrNoRecord},
	{StatusRevision, table.ErrRevision},
	{StatusBeingDeleted, table.ErrBeingDeleted},
	{StatusBusy, table.ErrBusy},
	{StatusUnknown, table.ErrUnknown},
	{StatusUnsupported, table.ErrUnsupported},
	{StatusKeyTooLong, table.ErrKeyTooLong},
	{StatusAgain, ErrAgain},
	{StatusMore, ErrMore},
	{StatusNoFeed, table.ErrNoFeed},
}

// These errors of an answer have no counterpart in package table.
var (
	// ErrForeign means that the object did not understand the message and did nothing.
	ErrForeign = errors.New("durableobject: the object runs another version of edgetable than the caller")
	// ErrAgain means that the object did nothing, because it restarted while the message waited.
	ErrAgain = errors.New("durableobject: the object restarted before it executed the request")
	// ErrMore means that the object did only a part of the work, because the calls of one message are limited. The
	// message must be sent again.
	ErrMore = errors.New("durableobject: the object executed only a part of the request")
	// ErrDamaged means that the answer is malformed.
	ErrDamaged = errors.New("durableobject: malformed answer")
)

// MovedError means that the table has another layout than the sender assumed.
type MovedError struct{ Layout Layout }

func (*MovedError) Error() string {
	return "durableobject: the table has another number of buckets, or another location, than the caller assumed"
}

// RangedError means that another range of the bucket has the key. Ranges are the bucket's ranges around
// the key: see [buckets.Ranges.Excerpt].
type RangedError struct {
	Bucket uint16
	Ranges buckets.Ranges
}

func (*RangedError) Error() string { return "durableobject: the key belongs to another range" }

// Done begins the answer of a successful operation.
func Done(dst []byte) []byte { return append(dst, version, byte(StatusDone)) }

// DoneTicks appends the answer of a successful operation whose only field is a time.
func DoneTicks(dst []byte, t edm.Ticks) []byte { return appendUint64(Done(dst), uint64(t)) }

// Foreign appends the answer to a message that the object does not understand.
func Foreign(dst []byte) []byte { return append(dst, version, byte(StatusForeign)) }

// Moved appends the answer of an object that does not have the table, because the table has the layout h.
func Moved(dst []byte, h Layout) []byte {
	return AppendLayout(append(dst, version, byte(StatusMoved)), h)
}

// nearBytes is the approximate maximum size of the ranges in an answer. A Worker with the least memory has room for
// them.
const nearBytes = 8 << 10

// MovedTo answers that another range has the key k. The answer contains the bucket's ranges around k. Versions of the
// code from before ranges treat this answer as one of an unknown version.
func MovedTo(dst []byte, bucket uint16, m buckets.Ranges, k []byte) []byte {
	return AppendRanges(appendNumber(Foreign(dst), uint64(bucket)), m.Excerpt(k, nearBytes))
}

// Fail appends the answer for an error.
func Fail(dst []byte, err error) []byte {
	if refused, ok := err.(*table.Refused); ok {
		dst = append(dst, version, byte(StatusRefused))
		dst = appendNumber(dst, uint64(refused.Index))
		return appendReason(dst, refused.Err)
	}
	for i := range named {
		if errors.Is(err, named[i].err) {
			return append(dst, version, byte(named[i].status))
		}
	}
	return AppendText(append(dst, version, byte(StatusFailed)), err.Error())
}

const (
	reasonLimit byte = iota // fields: code, message
	reasonExists
	reasonNoEntity
	reasonChanged
)

func appendReason(dst []byte, err error) []byte {
	switch err {
	case table.ErrExists:
		return append(dst, reasonExists)
	case table.ErrNoEntity:
		return append(dst, reasonNoEntity)
	case table.ErrChanged:
		return append(dst, reasonChanged)
	}
	code, text := table.InternalError, err.Error()
	if limit, ok := err.(*table.Error); ok {
		code, text = limit.Code, limit.Message
	}
	return AppendText(AppendText(append(dst, reasonLimit), string(code)), text)
}

func (r *Reader) reason() error {
	switch r.Byte() {
	case reasonExists:
		return table.ErrExists
	case reasonNoEntity:
		return table.ErrNoEntity
	case reasonChanged:
		return table.ErrChanged
	}
	code := table.Code(r.Text())
	return code.With(r.Text())
}

// StatusOf returns the status of an answer of this version.
func StatusOf(answer []byte) Status { return Status(answer[1]) }

// Result returns the fields of an answer, or the error that the answer contains.
func Result(answer []byte) (Reader, error) {
	if len(answer) < head || answer[0] != version {
		return Reader{}, ErrDamaged
	}
	r := Read(answer[head:])
	switch status := Status(answer[1]); status {
	case StatusDone:
		return r, nil
	case StatusForeign:
		if r.Done() {
			return r, ErrForeign
		}
		if moved := (&RangedError{Bucket: uint16(r.Number(1<<16 - 1)), Ranges: r.Ranges()}); r.Done() {
			return r, moved
		}
	case StatusMoved:
		if h := r.Layout(); r.Done() && h.Buckets > 0 {
			return r, &MovedError{h}
		}
	case StatusRefused:
		if refused := (&table.Refused{Index: r.Size(), Err: r.reason()}); r.Done() {
			return r, refused
		}
	case StatusFailed:
		if text := r.Text(); r.Done() {
			return r, errors.New("durableobject: " + text)
		}
	default:
		for i := range named {
			if named[i].status == status {
				return r, named[i].err
			}
		}
	}
	return r, ErrDamaged
}
