package repository

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"edgetable/adapters/backup/repository/internal/seal"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
)

// logDir contains the log pieces as log/TIMELINE/MINUTE/FROM-TO. FROM and TO are commit numbers in hexadecimal. A
// commit number is a time, and MINUTE is FROM rounded down to a minute.
const logDir = "log/"

// Piece is an object of the log. It contains all commits of a timeline with numbers in (From, To]. Commit numbers are times
// in ticks.
type Piece struct {
	Timeline string    `json:"timeline"`
	From     edm.Ticks `json:"from"`
	To       edm.Ticks `json:"to"`
	// Synced is a time of the primary's clock. Every write that was confirmed before this time has a commit number <=
	// To.
	Synced edm.Ticks `json:"synced"`
	// StartsLog is true if the piece does not continue an earlier piece: it is the timeline's first, or the server
	// discarded unshipped logs before it.
	StartsLog bool           `json:"begins,omitempty"`
	Term      commitlog.Term `json:"term,omitzero"` // term of the server that shipped the log piece; zero if an earlier version shipped it
	Commits   int            `json:"commits"`
	Length    int64          `json:"length"` // size of the commits before compression
	Codec     Codec          `json:"codec,omitempty"`
	// Recipients are the public keys for which the commits are encrypted; none means no encryption.
	Recipients []string `json:"recipients,omitempty"`
	// Parts are the stored sizes of the log pieces in a joined piece. Parts is empty for a piece that is not joined.
	Parts []int64 `json:"parts,omitempty"`

	Size int64 `json:"-"` // size of the object
}

const minuteForm = "20060102T1504"

func (p *Piece) object() string {
	return fmt.Sprintf("%s%016x-%016x", folderOf(p.Timeline, p.From), int64(p.From), int64(p.To))
}

// folderOf returns the folder of the log pieces that begin after the given commit number.
func folderOf(timeline string, from edm.Ticks) string {
	return logDir + timeline + "/" + from.Time().Format(minuteForm) + "/"
}

func parsePiece(name string, size int64) (p Piece, ok bool) {
	parts := strings.Split(strings.TrimPrefix(name, logDir), "/")
	if len(parts) != 3 || len(parts[2]) != 33 || !isTimelineID(parts[0]) {
		return p, false
	}
	p = Piece{Timeline: parts[0], Size: size}
	if _, err := fmt.Sscanf(parts[2], "%016x-%016x", (*int64)(&p.From), (*int64)(&p.To)); err != nil {
		return p, false
	}
	return p, p.object() == name && p.From < p.To && p.From >= 0
}

// maxPiece is the maximum size in bytes of a log piece before compression, so that a forged piece cannot exhaust the memory.
const maxPiece = 256 << 20

// The kind and the versions of the objects of the log. A joined piece contains log pieces as they were stored, so that
// no private key is needed to join them.
const (
	pieceKind  = "log"
	pieceForm  = 1
	joinedForm = 2
)

var errParts = errors.New("the object with joined pieces of the log does not contain the pieces that its header describes")

// openPiece verifies the object of a log piece. It returns the head of the piece, and the commits as they are stored.
func openPiece(named *Piece, b []byte) (p Piece, packed []byte, err error) {
	if p, packed, err = parseObject(b); err != nil {
		return p, nil, err
	}
	if p.Timeline != named.Timeline || p.From != named.From || p.To != named.To {
		return p, nil, errors.New("the header of the object does not match the object's name: it describes another piece of the log")
	}
	if p.Length < 0 || p.Length > maxPiece {
		return p, nil, fmt.Errorf("the header states an invalid size, %d bytes", p.Length)
	}
	return p, packed, nil
}

// parseObject verifies the object of a log piece or of a joined piece.
func parseObject(b []byte) (p Piece, packed []byte, err error) {
	version, rest, err := seal.Open(b, pieceKind, joinedForm)
	if err != nil {
		return p, nil, err
	}
	text, packed, _ := bytes.Cut(rest, []byte("\n"))
	if err := json.Unmarshal(text, &p); err != nil {
		return p, nil, err
	}
	if (version == joinedForm) != (len(p.Parts) > 0) {
		return p, nil, errParts
	}
	p.Size = int64(len(b))
	return p, packed, nil
}
