package message

import (
	"slices"

	"edgetable/core/buckets"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// MaxRanges is the maximum number of ranges of a table. One row of 2 MB must hold the list of a bucket's ranges, with
// keys of up to 1.5 KB.
const MaxRanges = 1000

// MostRanges returns the maximum number of ranges of a table with the given number of buckets.
func MostRanges(buckets uint16) int { return max(MaxRanges, int(buckets)+MaxRanges/2) }

// MostOfBucket returns the maximum number of ranges of one bucket. Splits for load may use only half of them. The other
// ranges are for splits for size: without such a split, a bucket finally refuses writes.
func MostOfBucket(buckets uint16, forLoad bool) int {
	most := MostRanges(buckets)
	if forLoad {
		most /= 2
	}
	return max(most/int(max(buckets, 1)), 2)
}

// AppendRanges appends the ranges of a bucket.
func AppendRanges(dst []byte, m buckets.Ranges) []byte {
	dst = appendNumber(dst, uint64(len(m)))
	for _, r := range m {
		dst = AppendBytes(appendNumber(dst, uint64(r.ID)), r.Start)
	}
	return dst
}

// Ranges reads the ranges of a bucket.
func (r *Reader) Ranges() buckets.Ranges {
	n := r.Number(uint64(len(r.rest)))
	var m buckets.Ranges
	for i := uint64(0); i < n && r.OK(); i++ {
		m = append(m, buckets.Range{ID: r.ID(), Start: r.Bytes()})
	}
	r.bad = r.bad || !m.Valid()
	return m
}

// ID reads the id of a range.
func (r *Reader) ID() uint32 { return uint32(r.Number(1<<32 - 1)) }

// AppendBounds appends the bounds of a range.
func AppendBounds(dst []byte, b key.Range) []byte {
	dst = AppendBytes(dst, b.Start)
	if b.End == nil {
		return append(dst, 0)
	}
	return AppendBytes(append(dst, 1), b.End)
}

// Bounds reads the bounds of a range.
func (r *Reader) Bounds() (b key.Range) {
	b.Start = r.Bytes()
	if r.Bool() {
		if b.End = r.Bytes(); b.End == nil {
			b.End = []byte{} // nil would mean that the range has no end
		}
	}
	return b
}

// Ranges appends the message OpRanges.
func Ranges(dst []byte, key string, bucket uint16) []byte {
	return appendNumber(Key(dst, OpRanges, key), uint64(bucket))
}

// Bucket reads the number of a bucket.
func (r *Reader) Bucket() uint16 { return uint16(r.Number(1<<16 - 1)) }

// Named contains the ranges of a bucket in the catalog: the ranges that serve requests, and the new ranges that do not
// serve requests yet.
type Named struct {
	Ranges buckets.Ranges
	Begun  []Begun
}

// Begins reports whether Begun contains the range with the given id.
func (n *Named) Begins(id uint32) bool {
	return slices.ContainsFunc(n.Begun, func(b Begun) bool { return b.ID == id })
}

// UnusedClass returns how many ids the catalog must skip after the id last, so that the next range gets an unused
// class. If all classes are used, it returns 0.
//
// The class of a range is its id modulo n. It determines the Timestamps of the range, so each range of a bucket needs
// its own class.
func (s *Named) UnusedClass(last, n uint32) uint32 {
	used := map[uint32]bool{0: true} // the range of a bucket that has not split has the id 0
	for _, r := range s.Ranges {
		used[r.ID%n] = true
	}
	for _, b := range s.Begun {
		used[b.ID%n] = true
	}
	for skip := range n {
		if !used[(last+1+skip)%n] {
			return skip
		}
	}
	return 0
}

// Begun is a new range that the catalog has recorded and that does not serve yet.
type Begun struct {
	ID   uint32
	From uint32 // the range that hands over the keys
	At   []byte // the lower bound of the keys that the new range receives
}

// AppendNamed appends an encoded Named.
func AppendNamed(dst []byte, n *Named) []byte {
	dst = appendNumber(AppendRanges(dst, n.Ranges), uint64(len(n.Begun)))
	for _, b := range n.Begun {
		dst = AppendBytes(appendNumber(appendNumber(dst, uint64(b.ID)), uint64(b.From)), b.At)
	}
	return dst
}

// Named reads a Named.
func (r *Reader) Named() (n Named) {
	n.Ranges = r.Ranges()
	count := r.Number(uint64(len(r.rest)))
	for i := uint64(0); i < count && r.OK(); i++ {
		n.Begun = append(n.Begun, Begun{ID: r.ID(), From: r.ID(), At: r.Bytes()})
	}
	return n
}

// Splitting contains the fields of OpBegin and OpSwitch, which the range From sends to the catalog.
//
//   - OpBegin requests the id of a new range, which will receive the keys from At on.
//   - OpSwitch reports that the range To has these keys. If To is 0, it reports that the right neighbour has all keys
//     of the sender.
type Splitting struct {
	Table       string
	Incarnation table.Incarnation
	Bucket      uint16
	From, To    uint32
	At          []byte
	Sealed      edm.Ticks // when the sender stopped serving the keys; 0 in OpBegin
}

// Split appends the message OpBegin or OpSwitch.
func Split(dst []byte, op Op, s *Splitting) []byte {
	dst = append(Key(dst, op, s.Table), s.Incarnation[:]...)
	dst = appendNumber(appendNumber(dst, uint64(s.Bucket)), uint64(s.From))
	dst = AppendBytes(appendNumber(dst, uint64(s.To)), s.At)
	if s.Sealed == 0 {
		return dst
	}
	return appendUint64(dst, uint64(s.Sealed))
}

// Splitting reads the fields of OpBegin or OpSwitch.
func (r *Reader) Splitting() Splitting {
	s := Splitting{Table: r.Text(), Incarnation: r.Incarnation(), Bucket: r.Bucket(), From: r.ID(), To: r.ID(), At: r.Bytes()}
	if r.OK() && !r.Done() {
		s.Sealed = r.Ticks()
	}
	return s
}

// Taking contains the fields that only the message with the last chunk of entities has. With this message, the receiver
// takes over the keys.
type Taking struct {
	Bounds key.Range // the bounds of the receiver's keys from now on
	High   edm.Ticks // the highest Timestamp of the sender
	// Replica is the name of the replica to which the sender publishes, or "". Synced means that the initial sync is
	// complete, and that all changes before Since are published.
	Replica string
	Synced  bool
	Since   edm.Ticks
	// Number is the number with which the receiver agreed to take over all keys of the sender; 0 in a split.
	Number uint64
	// From and Cut are set if the table has a feed. From is the id of the sender. The sender's lines up to the
	// Timestamp Cut precede the receiver's lines.
	From uint32
	Cut  edm.Ticks
}

const (
	takingSynced = 1 << iota
	takingFeeds
)

// Copy appends the message OpCopy, or OpTake if taking is not nil. The caller must append the items.
func Copy(dst []byte, p *Destination, i table.Incarnation, seq uint64, taking *Taking) []byte {
	if taking == nil {
		return appendUint64(append(beginAt(dst, OpCopy, p), i[:]...), seq)
	}
	dst = appendUint64(append(beginAt(dst, OpTake, p), i[:]...), seq)
	dst = appendUint64(AppendBounds(dst, taking.Bounds), uint64(taking.High))
	flags := byte(0)
	if taking.Synced {
		flags = takingSynced
	}
	if taking.Cut != 0 {
		flags |= takingFeeds
	}
	dst = appendUint64(append(AppendText(dst, taking.Replica), flags), uint64(taking.Since))
	if taking.Cut != 0 {
		dst = appendUint64(appendNumber(dst, uint64(taking.From)), uint64(taking.Cut))
	}
	if taking.Number == 0 {
		return dst
	}
	return appendUint64(dst, taking.Number)
}

// Offer appends the message OpOffer. The parameter size is the size of the sender's entities, or 0 if there are none.
func Offer(dst []byte, p *Destination, i table.Incarnation, end []byte, size int64) []byte {
	dst = AppendBytes(append(beginAt(dst, OpOffer, p), i[:]...), end)
	if size == 0 {
		return dst
	}
	return appendUint64(dst, uint64(size))
}

// Join appends the message OpJoin. The caller must append the items.
func Join(dst []byte, p *Destination, i table.Incarnation, number, seq uint64) []byte {
	return appendUint64(appendUint64(append(beginAt(dst, OpJoin, p), i[:]...), number), seq)
}

// DoneNumber appends the answer to OpOffer.
func DoneNumber(dst []byte, n uint64) []byte { return appendUint64(Done(dst), n) }

// Taking reads a Taking.
func (r *Reader) Taking() Taking {
	t := Taking{Bounds: r.Bounds(), High: r.Ticks(), Replica: r.Text()}
	flags := r.Byte()
	t.Synced, t.Since = flags&takingSynced != 0, r.Ticks()
	if flags&takingFeeds != 0 {
		t.From, t.Cut = r.ID(), r.Ticks()
	}
	return t
}

// Item is the state of an entity in a chunk.
type Item struct {
	Key       []byte
	Gone      bool
	Value     []byte
	Unseen    bool      // whether the replica lacks the current state
	ChangedAt edm.Ticks // the time of the change; set only if Unseen is true
}

const (
	itemGone = 1 << iota
	itemUnseen
)

// AppendItem appends an item to a chunk.
func AppendItem(dst []byte, i *Item) []byte {
	form := byte(0)
	if i.Gone {
		form |= itemGone
	}
	if i.Unseen {
		form |= itemUnseen
	}
	return appendState(dst, form, i.ChangedAt, i.Key, i.Value)
}

// Item reads the next item of a chunk. The caller must call it until Done.
func (r *Reader) Item() (i Item) {
	var form byte
	form, i.ChangedAt, i.Key, i.Value = r.state()
	i.Gone, i.Unseen = form&itemGone != 0, form&itemUnseen != 0
	return i
}

// Object identifies one object of a table.
type Object struct {
	Bucket uint16
	Range  uint32
}

// AppendObjects appends a list of objects.
func AppendObjects(dst []byte, list []Object) []byte {
	dst = appendNumber(dst, uint64(len(list)))
	for _, o := range list {
		dst = appendNumber(appendNumber(dst, uint64(o.Bucket)), uint64(o.Range))
	}
	return dst
}

// Objects reads a list of objects.
func (r *Reader) Objects() (list []Object) {
	n := r.Number(uint64(len(r.rest)))
	for i := uint64(0); i < n && r.OK(); i++ {
		list = append(list, Object{Bucket: r.Bucket(), Range: r.ID()})
	}
	return list
}
