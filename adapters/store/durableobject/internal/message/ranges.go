package message

import (
	"slices"

	"edgetable/core/buckets"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// MaxRanges is the maximum number of ranges of a table that exist or are being filled. With this limit, the
// list of a bucket's ranges fits into one row of at most 2 MB: each range has a key of up to 1.5 KB in that
// list.
const MaxRanges = 1000

// MostRanges returns the maximum number of ranges of a table with this many buckets.
func MostRanges(buckets uint16) int { return max(MaxRanges, int(buckets)+MaxRanges/2) }

// MostOfBucket returns the maximum number of ranges of one bucket. Splits for load may use only half of them.
// The other half is for splits for size, without which the table would finally refuse writes.
func MostOfBucket(buckets uint16, forLoad bool) int {
	most := MostRanges(buckets)
	if forLoad {
		most /= 2
	}
	return max(most/int(max(buckets, 1)), 2)
}

// AppendRanges appends the list of a bucket's ranges.
func AppendRanges(dst []byte, m buckets.Ranges) []byte {
	dst = appendNumber(dst, uint64(len(m)))
	for _, r := range m {
		dst = AppendBytes(appendNumber(dst, uint64(r.ID)), r.Start)
	}
	return dst
}

// Ranges reads the list of a bucket's ranges.
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
			b.End = []byte{} // not nil, because nil means that the range has no end
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

// Named is what the catalog knows about the ranges of a bucket: the ranges that serve, and the new ranges
// that do not serve yet.
type Named struct {
	Ranges buckets.Ranges
	Begun  []Begun
}

// Begins reports whether the range with this id is in Begun.
func (n *Named) Begins(id uint32) bool {
	return slices.ContainsFunc(n.Begun, func(b Begun) bool { return b.ID == id })
}

// UnusedClass returns how many ids the catalog skips before it gives an id to a new range. The parameter last is the id
// of the last new range. The class of a range is its id modulo n, and determines the Timestamps that the range issues.
// So no two ranges of a bucket may have the same class. The result is 0 if every class is used.
func (s *Named) UnusedClass(last, n uint32) uint32 {
	used := map[uint32]bool{0: true} // before a bucket splits, its range has the id 0
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
	From uint32 // the range that hands the keys over
	At   []byte // the lower bound of the keys that the new range gets
}

// AppendNamed appends a Named value.
func AppendNamed(dst []byte, n *Named) []byte {
	dst = appendNumber(AppendRanges(dst, n.Ranges), uint64(len(n.Begun)))
	for _, b := range n.Begun {
		dst = AppendBytes(appendNumber(appendNumber(dst, uint64(b.ID)), uint64(b.From)), b.At)
	}
	return dst
}

// Named reads a Named value.
func (r *Reader) Named() (n Named) {
	n.Ranges = r.Ranges()
	count := r.Number(uint64(len(r.rest)))
	for i := uint64(0); i < count && r.OK(); i++ {
		n.Begun = append(n.Begun, Begun{ID: r.ID(), From: r.ID(), At: r.Bytes()})
	}
	return n
}

// Splitting holds the fields of the messages OpBegin and OpSwitch, which a range sends to the catalog. From is the id
// of that range. OpBegin asks for the id of a new range, which will get the keys from the position At on. OpSwitch says
// that the range with the id To has these keys. If To is 0, OpSwitch says that the right neighbour has got all keys of
// the sender.
type Splitting struct {
	Table       string
	Incarnation table.Incarnation
	Bucket      uint16
	From, To    uint32
	At          []byte
	Sealed      edm.Ticks // when the sender stopped serving the keys, 0 in OpBegin
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

// Taking holds the fields that are only in the message with the last chunk of entities, with which the
// receiver gets the keys.
type Taking struct {
	Bounds key.Range // the bounds of the keys that the receiver has from now on
	High   edm.Ticks // no Timestamp of the sender is higher
	// Replica is the name of the replica to which the sender publishes; "" if it does not publish. If Synced is true,
	// the sender has published all entities that existed when it joined the replica, and all changes before the time
	// Since.
	Replica string
	Synced  bool
	Since   edm.Ticks
	// Number is the number with which the receiver agreed to take all keys of the sender; 0 in a split.
	Number uint64
	// The fields From and Cut are set in a table with a feed. From is the id of the sender. The sender's lines
	// up to the Timestamp Cut come before the receiver's lines. Without a feed, Cut is 0.
	From uint32
	Cut  edm.Ticks
}

// The flags of a Taking.
const (
	takingSynced = 1 << iota
	takingFeeds
)

// Copy appends the message OpCopy, or OpTake if taking is not nil. The caller appends items after it.
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

// Offer appends the message OpOffer. size is the size of the sender's entities, 0 if there are none.
func Offer(dst []byte, p *Destination, i table.Incarnation, end []byte, size int64) []byte {
	dst = AppendBytes(append(beginAt(dst, OpOffer, p), i[:]...), end)
	if size == 0 {
		return dst
	}
	return appendUint64(dst, uint64(size))
}

// Join appends the message OpJoin. The caller appends items after it.
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

// Item is the state of an entity in a chunk that moves to another range.
type Item struct {
	Key       []byte
	Gone      bool
	Value     []byte
	Unseen    bool      // whether the replica lacks the current state
	ChangedAt edm.Ticks // the time of the change, set only if Unseen is true
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

// Item reads the next item of a chunk, until Done.
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
