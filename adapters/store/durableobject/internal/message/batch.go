package message

import (
	"edgetable/core/edm"
	"edgetable/core/table"
)

// BatchHead is the head of a batch for the replica.
type BatchHead struct {
	Incarnation table.Incarnation // the incarnation of the rows, or the incarnation to purge
	Source      string            // the name of the object that publishes, as in the replica
	Mark        Mark
	Since       edm.Ticks // all changes before this time are published
	Purge       bool      // whether the incarnation ended and must be purged
}

// Mark says whether the replica must begin or stop reporting that the sender of a batch lags.
type Mark byte

const (
	MarkNothing Mark = iota
	MarkLagging      // the replica must report that the sender lags: the replica may lack changes from the time Since on
	MarkForget       // the replica must stop reporting that the sender lags
)

// AppendBatch begins a batch. The changes are appended after it.
func AppendBatch(dst []byte, h *BatchHead) []byte {
	dst = append(dst, h.Incarnation[:]...)
	dst = AppendText(dst, h.Source)
	dst = append(dst, byte(h.Mark))
	dst = appendUint64(dst, uint64(h.Since))
	return appendBool(dst, h.Purge)
}

// BatchHead reads a BatchHead.
func (r *Reader) BatchHead() (h BatchHead) {
	h.Incarnation = r.Incarnation()
	h.Source = r.Text()
	h.Mark = Mark(r.Byte())
	h.Since = r.Ticks()
	h.Purge = r.Bool()
	return h
}

// BatchChange is the new state of an entity or a record.
type BatchChange struct {
	Record bool
	Gone   bool
	Ticks  edm.Ticks
	Key    []byte
	Value  []byte // entity or record in the form of table.AppendRow or AppendDocument
}

const (
	changeRecord = 1 << iota
	changeGone
)

// AppendChange appends a change to a batch.
func AppendChange(dst []byte, c *BatchChange) []byte {
	form := byte(0)
	if c.Record {
		form |= changeRecord
	}
	if c.Gone {
		form |= changeGone
	}
	return appendState(dst, form, c.Ticks, c.Key, c.Value)
}

// Change reads the next change of a batch. The caller must call it until Done.
func (r *Reader) Change() (c BatchChange) {
	var form byte
	form, c.Ticks, c.Key, c.Value = r.state()
	c.Record, c.Gone = form&changeRecord != 0, form&changeGone != 0
	return c
}
