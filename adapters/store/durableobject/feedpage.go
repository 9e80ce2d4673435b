package durableobject

import (
	"context"
	"errors"
	"slices"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/position"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// mostAts is the approximate maximum size in bytes of all positions in a page. Each commit has a position, of about one
// byte per range.
const mostAts = 128 << 10

// history is the History of all positions. A restore does not change the History, because it gives the table a new
// incarnation.
var history = table.History{'o', 'b', 'j', 'e', 'c', 't', 's'}

// feedReading is the read of one page. It merges the lines of some ranges by Timestamp.
//
// If it asks all ranges at once, the commits of the page are in order. Otherwise only the commits of each partition are
// in order.
type feedReading struct {
	*Store
	ctx         context.Context
	table       table.RecordKey
	incarnation table.Incarnation
	p           *position.Position
	r           *table.FeedRequest
	page        table.FeedPage
	streams     []feedStream
	others      []pendingCommit // commits of the page whose entities have moved to other ranges
	divided     pendingCommit   // the first commit of which the page has only a part; if its Part is 0, there is no such commit

	changes, size int
	asked         []message.FeedRange
	oldest        map[message.Object]bool // for each range that was asked, whether it was asked for its oldest line
	last          bool                    // whether the last range of the position was asked
	waits         bool                    // whether a line must wait for the lines of a range that was not asked for this page
	missing       bool                    // whether a range did not answer
	rest          bool                    // whether the page only continues a commit whose first part the client already has
}

// feedStream is the answer of one range to a request for the lines of its feed.
type feedStream struct {
	message.Object
	answer message.FeedAnswer
	items  message.Reader
	next   message.FeedItem // the next item; not set if ended is true
	ended  bool
	part   int // how many changes of the stream's first commit the client already has
}

// sibling returns the range of the same bucket with the given id.
func (s *feedStream) sibling(id uint32) message.Object {
	return message.Object{Bucket: s.Bucket, Range: id}
}

func (s *Store) readFeed(ctx context.Context, t table.RecordKey, incarnation table.Incarnation, p *position.Position, r *table.FeedRequest) (table.FeedPage, error) {
	f := &feedReading{Store: s, ctx: ctx, table: t, incarnation: incarnation, p: p, r: r, oldest: map[message.Object]bool{}}
	if err := f.queryRanges(); err != nil {
		return table.FeedPage{}, err
	}
	full, err := f.merge()
	if err != nil {
		return table.FeedPage{}, err
	}
	if f.missing && len(f.page.Commits) == 0 && !full {
		return table.FeedPage{}, table.ErrBusy
	}
	if err := f.end(full); err != nil {
		return table.FeedPage{}, err
	}
	if err := f.resolve(); err != nil {
		return table.FeedPage{}, err
	}
	return f.page, nil
}

// askedTogether is the number of ranges that are asked at the same time. A Worker's instance must hold their answers,
// of up to about 1.8 MiB each.
const askedTogether = 6

// queryRanges asks the ranges of this page for the lines of their feeds, until the answers are large enough for a page.
func (f *feedReading) queryRanges() error {
	some := f.nextRanges()
	q := message.FeedQuestion{
		Life: f.incarnation, ManyRanges: message.HasManyRanges(len(f.p.Ranges)), Range: f.r.Within,
		Changes: share(f.r.Changes, len(some)), Bytes: share(f.r.Bytes, len(some)), Divides: true,
	}
	if f.rest {
		q.Changes = 1
	}
	var absent []message.Object
	size := 0
	for group := range slices.Chunk(some, askedTogether) {
		more, err := f.askGroup(group, &q, &size)
		if err != nil {
			return err
		}
		f.asked, absent = append(f.asked, group...), append(absent, more...)
		if f.r.Bytes > 0 && size >= f.r.Bytes {
			break
		}
	}
	f.last = f.last && len(f.asked) == len(some)
	for i := range f.streams {
		if err := f.step(&f.streams[i]); err != nil {
			return err
		}
	}
	return f.checkAbsent(absent)
}

// askGroup asks a group of ranges, and adds the size of their answers to *size. It returns the objects that know
// nothing of the table.
func (f *feedReading) askGroup(group []message.FeedRange, q *message.FeedQuestion, size *int) (absent []message.Object, err error) {
	var calls []Call
	for _, one := range group {
		to := destinationOf(f.table, &f.p.Layout, one.Object)
		q.From, q.Part = one.At, f.p.PartIn(one.Object)
		calls = append(calls, Call{AddressOf(&to), message.Lines(nil, &to, q)})
	}
	answers, errs := f.askAll(f.ctx, calls)
	if err := f.contextErr(f.ctx); err != nil {
		return nil, err
	}
	for i, one := range group {
		f.oldest[one.Object] = one.At == message.FeedOldest
		if errs[i] != nil {
			if f.missing = true; errors.Is(errs[i], table.ErrBusy) {
				continue
			}
			return nil, errs[i]
		}
		*size += answers[i].Len()
		st := feedStream{Object: one.Object, items: answers[i], part: f.p.PartIn(one.Object)}
		if st.answer = st.items.FeedAnswer(); !st.items.OK() {
			return nil, message.ErrDamaged
		}
		f.page.Retention = max(f.page.Retention, st.answer.Retention)
		switch st.answer.State {
		case message.FeedOff:
			return nil, table.ErrNoFeed
		case message.FeedExpired:
			return nil, table.ErrFeedExpired
		case message.FeedAbsent:
			absent = append(absent, one.Object)
		}
		if f.oldest[one.Object] && st.answer.Start != 0 {
			f.p.Set(one.Object, st.answer.Start)
		}
		for _, id := range st.answer.Parents {
			if parent := st.sibling(id); !f.p.Knows(parent) {
				f.p.Set(parent, message.FeedOldest)
				f.waits = true
			}
		}
		f.streams = append(f.streams, st)
	}
	return absent, nil
}

// nextRanges returns the ranges to ask for this page. They follow the ranges of the previous page in the list. If the
// position is inside a commit, only the range of that commit is asked.
func (f *feedReading) nextRanges() []message.FeedRange {
	if at, ok := f.p.At(f.p.PartOf); ok && f.p.Part > 0 {
		f.rest = true
		return []message.FeedRange{{Object: f.p.PartOf, At: at}}
	}
	first := 0
	for first < len(f.p.Ranges) && f.p.Number(f.p.Ranges[first].Object) < f.p.From {
		first++
	}
	if first == len(f.p.Ranges) {
		first = 0
	}
	if first == 0 {
		f.p.Busy = false
	}
	end := min(first+f.window, len(f.p.Ranges))
	f.last = end == len(f.p.Ranges)
	return append([]message.FeedRange(nil), f.p.Ranges[first:end]...)
}

// share divides a limit by the number of ranges. The result is at least 1, or 0 if there is no limit.
func share(limit, ranges int) int {
	if limit <= 0 {
		return 0
	}
	return max((limit+ranges-1)/max(ranges, 1), 1)
}

// checkAbsent handles the objects that know nothing of the table. It asks the catalog whether the incarnation was
// dropped or replaced by a restore.
func (f *feedReading) checkAbsent(absent []message.Object) error {
	if len(absent) == 0 {
		return nil
	}
	r, err := f.send(f.ctx, f.catalog(f.table.Account), message.LifeOf(nil, f.table.String(), f.incarnation))
	if err != nil {
		return err
	}
	m, said := r.FeedMap(), r.Byte()
	if !r.Done() {
		return message.ErrDamaged
	}
	there := make(map[message.Object]bool, len(m.Ranges))
	for _, one := range m.Ranges {
		there[one.Object] = true
	}
	for _, o := range absent {
		switch {
		case said == message.LifeRestored:
			return table.ErrHistory
		case said == message.LifeEnded:
			f.finishRange(o)
		case there[o]:
			if f.oldest[o] { // the object has no lines yet, so later pages read it from its first line
				f.p.Set(o, message.FeedBegin)
			}
		case f.oldest[o]: // the object has already removed its lines, because they were too old
			f.finishRange(o)
		default:
			return table.ErrFeedExpired
		}
	}
	return nil
}

// step moves a stream to its next item. After the last item, it sets the range's position to the position in the
// answer.
func (f *feedReading) step(s *feedStream) error {
	switch {
	case !s.items.Done():
		if s.next = s.items.FeedItem(); !s.items.OK() {
			return message.ErrDamaged
		}
		return nil
	case s.ended:
		return nil
	}
	s.ended = true
	switch a := &s.answer; {
	case a.State == message.FeedAbsent:
	case a.More:
		f.p.Set(s.Object, a.Next)
	case a.State == message.FeedLeft:
		f.finishRange(s.Object)
	case a.State == message.FeedDropped:
		f.p.Drop = max(f.p.Drop, a.End)
		f.finishRange(s.Object) // a range that received keys from this range before the drop no longer needs to wait for this range's lines
	default:
		f.p.Set(s.Object, a.Next)
	}
	return nil
}

// finishRange records that all lines of a range were read.
func (f *feedReading) finishRange(o message.Object) {
	f.p.Remove(o)
	f.p.Done = append(f.p.Done, o)
}

// merge adds the lines of the streams to the page, in the order of their Timestamps. It reports whether a limit ended
// the page.
func (f *feedReading) merge() (full bool, err error) {
	for !full {
		s := f.firstStream()
		if s == nil {
			return f.mayMissLines(1<<63 - 1), nil
		}
		i := s.next
		if f.mayMissLines(i.Ticks) {
			return true, nil
		}
		f.p.Set(s.Object, i.Ticks)
		switch other := s.sibling(i.Range); i.Kind {
		case message.FeedGave:
			if !f.p.Knows(other) {
				f.p.Set(other, message.FeedBegin)
				full = true // end the page here: lines of the new range may precede the remaining lines
			}
		case message.FeedTook:
			f.p.Done = slices.DeleteFunc(f.p.Done, func(o message.Object) bool { return o == other })
		case message.FeedCommit, message.FeedElsewhere, message.FeedPart:
			full = f.add(s, &i)
		}
		if err := f.step(s); err != nil {
			return false, err
		}
		if i.IsCommit() {
			if i.Part > 0 {
				f.p.SetPart(s.Object, i.Ticks, i.Part)
				full = true
			}
			at, c := f.p.Append(nil), &f.page.Commits[len(f.page.Commits)-1]
			c.At = at
			c.After = func(index int) []byte { return positionInside(at, s.Object, i.Ticks, index) }
			f.size += len(at)
			full = full || f.r.Bytes > 0 && f.size >= f.r.Bytes
		}
	}
	return true, nil
}

// firstStream returns the stream whose next item has the lowest Timestamp, or nil. It ignores streams that must wait
// for another range.
func (f *feedReading) firstStream() (first *feedStream) {
	for i := range f.streams {
		s := &f.streams[i]
		if s.ended || first != nil && s.next.Ticks >= first.next.Ticks {
			continue
		}
		if f.comesLater(s) {
			continue
		}
		first = s
	}
	return first
}

// comesLater reports whether the next item of a stream must wait for earlier lines of another range, even if the
// position does not contain that range yet.
func (f *feedReading) comesLater(s *feedStream) bool {
	if s.next.Kind != message.FeedTook && s.next.Kind != message.FeedBegan {
		return false
	}
	other := s.sibling(s.next.Range)
	at, known := f.p.At(other)
	switch {
	case known && at < s.next.Cut:
		f.waits = f.waits || !f.asks(other)
		return true
	case known || s.next.Kind == message.FeedBegan || slices.Contains(f.p.Done, other):
		return false
	}
	f.waits = f.waits || len(f.asked) < len(f.p.Ranges)
	return true
}

func (f *feedReading) asks(o message.Object) bool {
	return slices.ContainsFunc(f.asked, func(r message.FeedRange) bool { return r.Object == o })
}

// mayMissLines reports whether lines before the given Timestamp may be missing, because a limit truncated the answer of
// a range.
func (f *feedReading) mayMissLines(timestamp edm.Ticks) bool {
	for i := range f.streams {
		if s := &f.streams[i]; s.ended && s.answer.More && s.answer.Next < timestamp {
			return true
		}
	}
	return false
}

// add adds a commit of a stream to the page. It reports whether the page is full.
func (f *feedReading) add(s *feedStream, i *message.FeedItem) (full bool) {
	c := table.FeedCommit{Ticks: i.Ticks, Changes: i.Changes, All: max(i.All, len(i.Changes))}
	if i.IsElsewhere() {
		f.others = append(f.others, pendingCommit{*i, len(f.page.Commits), s.Object, s.part})
	}
	s.part = 0
	f.page.Commits = append(f.page.Commits, c)
	f.changes += len(c.Changes)
	f.size += sizeOf(c.Changes)
	return f.r.Changes > 0 && f.changes >= f.r.Changes || len(f.page.Commits)*len(f.p.Ranges) >= mostAts
}

// positionInside returns the position after the given number of changes of a commit. The parameter end is the position
// after the whole commit.
func positionInside(end []byte, line message.Object, ticks edm.Ticks, changes int) []byte {
	p, _ := position.Read(end)
	p.SetPart(line, ticks, changes)
	return p.Append(nil)
}

func sizeOf(changes []table.FeedChange) (n int) {
	for i := range changes {
		n += changes[i].Size()
	}
	return n
}

// end sets the position after the page. When all ranges were read to their ends, it adds the drop of the table, if
// there was one.
func (f *feedReading) end(full bool) error {
	p, page := f.p, &f.page
	if len(p.Ranges) == 0 {
		if p.Drop == 0 && len(page.Commits) == 0 {
			return table.ErrFeedEnded
		}
		if p.Ended = true; p.Drop != 0 {
			page.Commits = append(page.Commits, table.FeedCommit{Ticks: p.Drop, At: p.Append(nil), Dropped: true})
		}
	}
	switch {
	case f.rest || p.Part > 0: // the next page begins inside this commit, or asks the same ranges again
		page.More = !p.Ended
	case f.last:
		page.More = !p.Ended && (full || f.waits || p.Busy)
		p.From = 0
	default:
		p.Busy = p.Busy || full || f.waits
		page.More = true
		p.From = p.Number(f.asked[len(f.asked)-1].Object) + 1
	}
	page.Next = table.FeedPosition{Incarnation: f.incarnation, History: history, At: p.Append(nil)}
	return nil
}
