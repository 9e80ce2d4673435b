package repository

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"filippo.io/age"

	"edgetable/adapters/backup/repository/encryption"
	"edgetable/adapters/backup/repository/internal/seal"
	"edgetable/core/commitlog"
)

// PieceWriter packs commits into log pieces. It compresses each commit when it is added, so that Seal has little work
// left.
type PieceWriter struct {
	keys []string
	to   []age.Recipient

	packed   bytes.Buffer
	age      io.WriteCloser // writer that encrypts the output of the encoder, and appends the result to packed; nil without encryption
	codec    Codec
	encoders map[Codec]encoder
	head     []byte // reusable buffer for the header of a commit
	commits  int
	length   int64
}

// NewPieceWriter returns a writer that compresses its first log piece with the given codec. The strings in keys are age
// public keys; none means no encryption.
func NewPieceWriter(keys []string, first Codec) (*PieceWriter, error) {
	to, err := encryption.ParseRecipients(keys)
	if err != nil {
		return nil, err
	}
	w := &PieceWriter{keys: slices.Clone(keys), to: to, encoders: map[Codec]encoder{}}
	return w, w.begin(first)
}

func (w *PieceWriter) begin(c Codec) (err error) {
	w.codec, w.commits, w.length = c, 0, 0
	if w.encoders[c] == nil {
		if w.encoders[c], err = c.encoder(); err != nil {
			return err
		}
	}
	w.packed.Reset()
	if len(w.to) == 0 {
		w.encoders[c].Reset(&w.packed)
		return nil
	}
	if w.age, err = age.Encrypt(&w.packed, w.to...); err == nil {
		w.encoders[c].Reset(w.age)
	}
	return err
}

// Add adds a commit to the current log piece. Commits must be added in the order of their numbers.
func (w *PieceWriter) Add(c commitlog.Commit) error {
	w.head = binary.BigEndian.AppendUint64(w.head[:0], uint64(c.Number))
	w.head = binary.AppendUvarint(w.head, uint64(len(c.Record)))
	to := w.encoders[w.codec]
	if _, err := to.Write(w.head); err != nil {
		return err
	}
	if _, err := to.Write(c.Record); err != nil {
		return err
	}
	w.commits++
	w.length += int64(len(w.head) + len(c.Record))
	return nil
}

// Length returns the size in bytes of the current log piece before compression.
func (w *PieceWriter) Length() int64 { return w.length }

// Sealed is the finished object of a log piece. A retry must write the same bytes, because a stored piece never
// changes.
type Sealed struct {
	Piece
	bytes []byte
}

// Seal finishes the current log piece, and begins the next one with the given codec. The caller must set Timeline,
// From, To, Synced, StartsLog and Term in p.
func (w *PieceWriter) Seal(p Piece, codec Codec) (*Sealed, error) {
	p.Recipients, p.Commits, p.Length, p.Codec = w.keys, w.commits, w.length, w.codec
	head, err := json.Marshal(&p)
	if err != nil {
		return nil, err
	}
	if err := w.encoders[w.codec].Close(); err != nil {
		return nil, err
	}
	if w.age != nil {
		if err := w.age.Close(); err != nil {
			return nil, err
		}
	}
	sum := sha256.New()
	sum.Write(head)
	sum.Write([]byte{'\n'})
	sum.Write(w.packed.Bytes())
	// The buffer is not reused, because an abandoned request may still be sending the previous object.
	line := seal.Line(pieceKind, pieceForm, sum.Sum(nil))
	b := make([]byte, 0, len(line)+1+len(head)+1+w.packed.Len())
	b = fmt.Appendf(b, "%s\n%s\n", line, head)
	b = append(b, w.packed.Bytes()...)
	p.Size = int64(len(b))
	return &Sealed{p, b}, w.begin(codec)
}
