package message

import (
	"encoding/binary"
	"strings"

	"edgetable/core/edm"
)

// version is the version of most messages. Messages to a range other than range 0 have the version ranged, so that
// versions of the code from before ranges reject them.
const (
	version = 2
	ranged  = 3
	// declaring is the version of messages that must be rejected by versions of the code from before declared options.
	declaring = 4
)

// Op is an operation of an object.
type Op byte

// The operations of a bucket come first, then the operations of a catalog. Each comment lists the fields of the message
// and, after the arrow, the fields of the answer.
const (
	OpGet    Op = 1 + iota // Destination, key → row
	OpCommit               // Attempt, Destination, Mutations → Timestamp
	OpScan                 // Destination, Scan → page
	OpDrop                 // incarnation → highest Timestamp of the incarnation in this object
	OpForget               // the highest Timestamp that the catalog has recorded → nothing

	OpRead   // record key → Record
	OpWrite  // Attempt, Write → revision
	OpList   // List → Documents
	OpRemove // Attempt, record key, revision
	OpLocate // record key → Located
	OpAlarm  // no fields; the alarm of the object sends this message

	OpTraffic // sent to a bucket: Destination → traffic.Tally of today, traffic.Tally of yesterday (may be an empty field), traffic.Range

	// Operations on ranges. OpCopy and OpTake are sent to a range, the others to a catalog.
	OpCopy    // Destination, incarnation, number of the chunk, entities → nothing
	OpTake    // Destination, incarnation, number of the chunk, Taking, entities → nothing
	OpRanges  // record key, bucket → Located, Named
	OpBegin   // Splitting → id of the new range
	OpSwitch  // Splitting → Located, Named
	OpObjects // record key → Layout, objects

	_ // two operations of an earlier version of the code
	_

	// Operations of a restore. OpObey is sent to a bucket, the others to a catalog.
	OpObey      // Destination → in the phase Freezing, the fields of Found; otherwise nothing. The receiver first asks the catalog what to do
	OpRestoring // record key, Restore → Restore
	OpInstruct  // record key, bucket and range of the sender → Restore with only the sender in its list of objects

	// Operations of a merge. A range sends them to its right neighbour, which will receive all its keys.
	OpOffer // Destination, incarnation, end of the sender's keys, optionally the size of its entities → number of the receiver's agreement
	OpJoin  // Destination, incarnation, number in the answer to OpOffer, number of the chunk, entities → nothing

	OpDeclare // makes a bucket read the declared options: Destination → 1 if the bucket has removed all entities that expired under a withdrawn rule, else 0

	// Operations on feeds. OpLines and OpLook are sent to a bucket, the others to a catalog.
	OpLines // Destination, FeedQuestion → FeedAnswer, items
	OpLook  // Destination, incarnation, key, bounds, items → items
	OpFeeds // record key, index of the first object to ask, whether to ask objects for positions → FeedMap
	OpLife  // record key, incarnation → FeedMap, what became of the incarnation
)

// writes reports whether a message begins with an Attempt.
func (o Op) writes() bool { return o == OpCommit || o == OpWrite || o == OpRemove }

const head = 2 // version and operation, or version and status

func begin(dst []byte, op Op) []byte {
	dst = append(dst, version, byte(op))
	if op.writes() {
		dst = append(dst, make([]byte, attemptSize)...)
	}
	return dst
}

// Open parses the head of a message. ok is false if the version is unknown.
func Open(m []byte) (op Op, r Reader, ok bool) {
	if len(m) < head || m[0] != version && m[0] != ranged && m[0] != declaring {
		return 0, r, false
	}
	r = Read(m[head:])
	r.ranged = m[0] == ranged
	return Op(m[1]), r, true
}

// Attempt identifies a write and one of the attempts to send it.
type Attempt struct {
	ID    uint64    // random number that is the same in all attempts
	Again bool      // whether this is not the first attempt
	First edm.Ticks // the time of the first attempt, by the sender's clock
	Age   edm.Ticks // time between the first attempt and this one
}

const attemptSize = 8 + 1 + 8 + 8

// IsWrite reports whether a message begins with an Attempt.
func IsWrite(m []byte) bool { return len(m) >= head+attemptSize && Op(m[1]).writes() }

// IsRemove reports whether a message is OpRemove, which an object may execute in parts.
func IsRemove(m []byte) bool { return IsWrite(m) && Op(m[1]) == OpRemove }

// Stamp sets the Attempt of a write.
func Stamp(m []byte, a Attempt) {
	b := m[head : head+attemptSize]
	binary.BigEndian.PutUint64(b, a.ID)
	b[8] = 0
	if a.Again {
		b[8] = 1
	}
	binary.BigEndian.PutUint64(b[9:], uint64(a.First))
	binary.BigEndian.PutUint64(b[17:], uint64(max(a.Age, 0)))
}

// Attempt reads the Attempt of a write.
func (r *Reader) Attempt() Attempt {
	return Attempt{
		ID:    r.Uint64(),
		Again: r.Byte() != 0,
		First: edm.Ticks(r.Uint64()),
		Age:   max(edm.Ticks(r.Uint64()), 0),
	}
}

// Destination is the range of a bucket to which a message is sent, with the layout that the sender assumes. The object
// checks the layout.
type Destination struct {
	Table    string // key of the table's record
	Buckets  uint16 // number of buckets, at least 1
	Bucket   uint16 // number of the bucket, below Buckets
	Location string
	Range    uint32
}

// Clone returns a copy that shares no memory with the message.
func (p *Destination) Clone() Destination {
	c := *p
	c.Table, c.Location = strings.Clone(p.Table), strings.Clone(p.Location)
	return c
}

func beginAt(dst []byte, op Op, p *Destination) []byte {
	start := len(dst)
	dst = AppendDestination(begin(dst, op), p)
	if p.Range != 0 {
		dst[start] = ranged
		dst = appendNumber(dst, uint64(p.Range))
	}
	return dst
}

// AppendDestination appends a Destination without its Range.
func AppendDestination(dst []byte, p *Destination) []byte {
	dst = AppendText(dst, p.Table)
	dst = appendNumber(dst, uint64(p.Buckets))
	dst = appendNumber(dst, uint64(p.Bucket))
	return AppendText(dst, p.Location)
}

// Destination reads a Destination.
func (r *Reader) Destination() (p Destination) {
	p.Table = r.Text()
	p.Buckets = uint16(r.Number(1<<16 - 1))
	p.Bucket = uint16(r.Number(1<<16 - 1))
	p.Location = r.Text()
	if r.ranged {
		p.Range = uint32(r.Number(1<<32 - 1))
	}
	if p.Bucket >= p.Buckets {
		r.bad = true
	}
	return p
}

// Traffic appends the message OpTraffic.
func Traffic(dst []byte, p *Destination) []byte { return beginAt(dst, OpTraffic, p) }

// Get appends the message OpGet.
func Get(dst []byte, p *Destination, key []byte) []byte {
	return AppendBytes(beginAt(dst, OpGet, p), key)
}
