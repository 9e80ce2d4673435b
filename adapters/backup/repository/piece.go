package repository

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"filippo.io/age"

	"edgetable/core/edm"
)

// logDir contains the log in objects log/TIMELINE/MINUTE/FROM-TO. FROM and TO are commit numbers in hexadecimal digits, and
// MINUTE is the minute of FROM. So a reader that knows FROM needs to list only one short folder.
const logDir = "log/"

// Piece is an object of the log. It contains all commits of a timeline with numbers in (From, To]. Commit numbers are times
// in ticks.
type Piece struct {
	Timeline string    `json:"timeline"`
	From     edm.Ticks `json:"from"`
	To       edm.Ticks `json:"to"`
	// Synced is a time by the primary's clock. Each write that returned before this time has a commit number <= To.
	Synced edm.Ticks `json:"synced"`
	// Begins is true if no earlier log piece ends at the value of From. Then the server discarded logs before they were
	// shipped, or this is the first piece of the timeline.
	Begins  bool  `json:"begins,omitempty"`
	Term    Term  `json:"term,omitzero"` // term of the server that shipped the log piece; zero if an earlier version shipped it
	Commits int   `json:"commits"`
	Length  int64 `json:"length"` // size of the commits before compression
	Codec   Codec `json:"codec,omitempty"`
	// Recipients are the public keys for which the commits are encrypted; none means no encryption.
	Recipients []string `json:"recipients,omitempty"`
	// Parts are the stored sizes of the log pieces in a joined piece. Parts is empty for a piece that is not joined.
	Parts []int64 `json:"parts,omitempty"`

	Size int64 `json:"-"` // size of the object
}

// Commit is one commit of the log, encoded as in the store.
type Commit struct {
	Number edm.Ticks
	Data   []byte
}

const minuteForm = "20060102T1504"

func (p *Piece) object() string {
	return fmt.Sprintf("%s%016x-%016x", folderOf(p.Timeline, p.From), int64(p.From), int64(p.To))
}

// folderOf returns the folder of the log pieces that begin after the given commit number.
func folderOf(timeline string, from edm.Ticks) string {
	return logDir + timeline + "/" + from.Time().Format(minuteForm) + "/"
}

// parsePiece parses the object name of a log piece.
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

const pieceHead = "edgetable log 1, sha256 "

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
	head, rest, _ := bytes.Cut(b, []byte("\n"))
	begin := pieceHead
	if strings.HasPrefix(string(head), joinedHead) {
		begin = joinedHead
	}
	if string(head) != fmt.Sprintf("%s%x", begin, sha256.Sum256(rest)) {
		if strings.HasPrefix(string(head), "edgetable log ") && !strings.HasPrefix(string(head), begin) {
			return p, nil, errNewer
		}
		return p, nil, errors.New("its checksum is wrong")
	}
	text, packed, _ := bytes.Cut(rest, []byte("\n"))
	if err := json.Unmarshal(text, &p); err != nil {
		return p, nil, err
	}
	if (begin == joinedHead) != (len(p.Parts) > 0) {
		return p, nil, errParts
	}
	p.Size = int64(len(b))
	return p, packed, nil
}

var errNoIdentity = errors.New("the object is encrypted: name the file with the private key with --identity")

// unpack returns the commits of a log piece.
func (p *Piece) unpack(packed []byte, with []age.Identity) (list []Commit, err error) {
	if len(p.Parts) > 0 {
		return p.unpackParts(packed, with)
	}
	if len(p.Recipients) > 0 {
		if len(with) == 0 {
			return nil, errNoIdentity
		}
		if packed, err = decrypt(packed, with); err != nil {
			return nil, fmt.Errorf("the object cannot be decrypted: %w", err)
		}
	}
	plain, err := p.Codec.decode(packed, p.Length)
	if err != nil {
		return nil, err
	}
	for last := p.From; len(plain) > 0; {
		if len(plain) < 8 {
			return nil, errShortPiece
		}
		number := edm.Ticks(binary.BigEndian.Uint64(plain))
		size, n := binary.Uvarint(plain[8:])
		if n <= 0 || size > math.MaxInt32 || int(size) > len(plain)-8-n {
			return nil, errShortPiece
		}
		if number <= last || number > p.To {
			return nil, fmt.Errorf("the commit %d is not between %d and %d", number, last, p.To)
		}
		last = number
		list = append(list, Commit{number, plain[8+n : 8+n+int(size)]})
		plain = plain[8+n+int(size):]
	}
	if len(list) != p.Commits {
		return nil, fmt.Errorf("the piece of the log has %d commits instead of %d", len(list), p.Commits)
	}
	return list, nil
}

var errShortPiece = errors.New("the piece of the log ends in the middle of a commit")
