package workerskv

import (
	"encoding/base64"
	"encoding/binary"
	"errors"

	"edgetable/core/edm"
)

// A cell is the content that is stored under a name in KV. Its first 8 bytes are a stamp: the Timestamp of the write,
// big-endian. A list returns the metadata of names, so a small cell is stored in the metadata, with an empty value. A
// larger cell is stored as the value, and the metadata contains only the stamp:
//
//	metadata = base64( 01 · the whole cell )  or  base64( 02 · stamp )
//
// KV stores metadata as a JSON string of at most 1,024 bytes, including two quotes. base64 needs no escapes in JSON.
const (
	formInline = 1
	formValue  = 2
	formMark   = 3 // a mark, which in a replica stands for an entity whose key is too long for a name in KV

	stampSize   = 8
	maxMetadata = 1022
	// maxInline is the size in bytes of the largest cell that fits into the metadata.
	maxInline = maxMetadata*6/8 - 1
)

var metadataCode = base64.RawStdEncoding.Strict()

var (
	errCell  = errors.New("the data in KV is damaged or was not written by edgetable")
	errNewer = errors.New("the data in KV is from a newer version of edgetable: deploy that version or a later one")
)

func stampOf(body []byte) edm.Ticks { return edm.Ticks(binary.BigEndian.Uint64(body)) }

// encodeCell returns the value and the metadata in which a cell is stored. The value may share memory with body.
func encodeCell(body []byte) (value, metadata []byte) {
	form := [1 + maxInline]byte{formInline}
	n := 1 + copy(form[1:], body)
	if len(body) > maxInline {
		form[0], n, value = formValue, 1+stampSize, body
	}
	return value, metadataCode.AppendEncode(nil, form[:n])
}

// peeked is the decoded metadata of a name.
type peeked struct {
	stamp edm.Ticks
	body  []byte // the whole cell; nil if the metadata contains only the stamp
	mark  bool
}

func decodeMetadata(metadata []byte) (p peeked, err error) {
	if len(metadata) > maxMetadata {
		return p, errCell
	}
	b, err := metadataCode.AppendDecode(make([]byte, 0, len(metadata)), metadata)
	// Each cell must have only one encoding. Compare the length too, because package base64 ignores line breaks.
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

// decodeCell decodes a cell from the value and the metadata of a name in KV.
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
