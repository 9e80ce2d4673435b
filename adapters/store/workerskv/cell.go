package workerskv

import (
	"encoding/base64"
	"encoding/binary"
	"errors"

	"edgetable/core/edm"
)

// A cell is the content of a name: bytes that begin with a stamp, the Timestamp of
// the write, big-endian. A cell that fits is kept in the metadata, where a list shows
// it, and the value is empty; otherwise it is the value, and the metadata has the
// stamp.
//
//	metadata = base64( 01 · the whole cell )  or  base64( 02 · stamp )
//
// Metadata is JSON, and base64 is the densest simple code that JSON does not escape.
const (
	formInline = 1
	formValue  = 2
	formMark   = 3 // only in a replica: entities near here have keys too long for a name

	stampSize   = 8
	maxMetadata = 1022
	// maxInline is the size of the largest cell that fits in the metadata.
	maxInline = maxMetadata*6/8 - 1
)

var metadataCode = base64.RawStdEncoding.Strict()

var (
	errCell  = errors.New("the data in KV is damaged or not from edgetable")
	errNewer = errors.New("the data in KV is from a newer version of edgetable: deploy that version or a later one")
)

func stampOf(body []byte) edm.Ticks { return edm.Ticks(binary.BigEndian.Uint64(body)) }

// encodeCell splits a cell into value and metadata. The value may be the body itself.
func encodeCell(body []byte) (value, metadata []byte) {
	form := [1 + maxInline]byte{formInline}
	n := 1 + copy(form[1:], body)
	if len(body) > maxInline {
		form[0], n, value = formValue, 1+stampSize, body
	}
	return value, metadataCode.AppendEncode(nil, form[:n])
}

// peeked is the content of metadata: a whole cell, or its stamp alone.
type peeked struct {
	stamp edm.Ticks
	body  []byte // nil if the cell is the value
	mark  bool
}

func decodeMetadata(metadata []byte) (p peeked, err error) {
	if len(metadata) > maxMetadata {
		return p, errCell
	}
	b, err := metadataCode.AppendDecode(make([]byte, 0, len(metadata)), metadata)
	// Package base64 skips line breaks, so the length is compared too.
	if err != nil || metadataCode.EncodedLen(len(b)) != len(metadata) || len(b) < 1+stampSize {
		return p, errCell
	}
	form, b := b[0], b[1:]
	p.stamp = stampOf(b)
	switch {
	case form == formInline:
		p.body = b
	case form == formMark && len(b) == stampSize:
		p.mark = true
	case form != formValue || len(b) != stampSize:
		return p, errCell
	}
	return p, nil
}

// decodeCell joins value and metadata.
func decodeCell(value, metadata []byte) (body []byte, err error) {
	p, err := decodeMetadata(metadata)
	switch {
	case err != nil:
		return nil, err
	case p.body != nil:
		return p.body, nil
	case p.mark || len(value) < stampSize || stampOf(value) != p.stamp:
		return nil, errCell
	}
	return value, nil
}

func appendStamp(dst []byte, stamp edm.Ticks) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(stamp))
}
