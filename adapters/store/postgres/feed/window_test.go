package feed

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"edgetable/core/edm"
)

// database is a model of those properties of PostgreSQL on which a feed relies. A transaction gets a number when it
// begins to write, and locks the keys that it writes. Its lines become visible when it commits. After a crash, numbers
// continue above the highest committed one.
type database struct {
	rnd       *rand.Rand
	next      int64
	committed int64 // the highest number of a committed transaction
	running   []*transaction
	lines     []Line
	keys      map[edm.Ticks][]int // the keys of each line, by its Timestamp
	state     [5]edm.Ticks        // the committed Timestamp of each key
	last      edm.Ticks
	floor     int64
	removed   edm.Ticks
	trims     int64
}

// since is the number of the transaction that declared the feed.
const since = 99

type transaction struct {
	number   int64
	stranger bool // set if the transaction belongs to another program, which writes no line
	lines    []Line
	locks    map[int]edm.Ticks
}

func (d *database) snapshot(self int64) (s Snapshot) {
	s.Max = d.next
	for _, t := range d.running {
		if t.number != self && t.number != 0 {
			s.Running = append(s.Running, t.number)
		}
	}
	slices.Sort(s.Running)
	return s
}

func (s *Snapshot) bytes() (b []byte) {
	put := func(n uint64, size int) {
		for i := size - 1; i >= 0; i-- {
			b = append(b, byte(n>>(8*i)))
		}
	}
	put(uint64(len(s.Running)), 4)
	put(0, 8)
	put(uint64(s.Max), 8)
	for _, n := range s.Running {
		put(uint64(n), 8)
	}
	return b
}

// step makes one random change: it begins a transaction, writes in a transaction, or ends a transaction.
func (d *database) step(marks bool) {
	switch n := d.rnd.IntN(12); {
	case n < 3 && len(d.running) < 6:
		t := &transaction{stranger: d.rnd.IntN(5) == 0, locks: map[int]edm.Ticks{}}
		if d.running = append(d.running, t); t.stranger {
			d.number(t)
		}
	case n < 8 && len(d.running) > 0:
		d.write(d.running[d.rnd.IntN(len(d.running))], marks)
	case len(d.running) > 0:
		i := d.rnd.IntN(len(d.running))
		t := d.running[i]
		d.running = slices.Delete(d.running, i, i+1)
		if d.rnd.IntN(6) > 0 {
			d.commit(t)
		}
	}
}

func (d *database) number(t *transaction) {
	t.number = d.next
	d.next++
}

// write writes one or two keys at one Timestamp, above the current Timestamps of the keys, and adds a line to the feed.
func (d *database) write(t *transaction, marks bool) {
	if t.stranger {
		return
	}
	ticks := d.last + 5 - edm.Ticks(d.rnd.IntN(40)) // the clock of the writing server may be behind
	var keys []int
	for _, k := range d.rnd.Perm(len(d.state))[:1+d.rnd.IntN(2)] {
		locked := slices.ContainsFunc(d.running, func(o *transaction) bool { return o != t && o.locks[k] != 0 })
		if !locked {
			keys, ticks = append(keys, k), max(ticks, d.state[k]+1, t.locks[k]+1)
		}
	}
	for d.keys[ticks] != nil || ticks <= 0 { // no two servers issue the same Timestamp
		ticks++
	}
	if len(keys) == 0 {
		return
	}
	d.last, d.keys[ticks] = max(d.last, ticks), keys
	mark := d.snapshot(t.number)
	if t.number == 0 {
		d.number(t)
	}
	l := Line{Ticks: ticks, Number: t.number}
	if marks && d.rnd.IntN(3) == 0 { // the store puts a mark (a snapshot) only into a transaction's first line; this test puts marks into any line
		l.mark = mark.bytes()
	}
	t.lines = append(t.lines, l)
	for _, k := range keys {
		t.locks[k] = ticks
	}
}

func (d *database) commit(t *transaction) {
	if t.number == 0 {
		return
	}
	d.lines = append(d.lines, t.lines...)
	for k, ticks := range t.locks {
		d.state[k] = ticks
	}
	d.committed = max(d.committed, t.number)
}

// crash rolls back the running transactions. The model then reuses all numbers above the highest committed one.
func (d *database) crash() {
	d.running, d.next = nil, d.committed+1
}

func (d *database) trim(upTo edm.Ticks) {
	before := len(d.lines)
	d.lines = slices.DeleteFunc(d.lines, func(l Line) bool {
		if l.Ticks > upTo {
			return false
		}
		d.floor, d.removed = max(d.floor, l.Number), max(d.removed, l.Ticks)
		return true
	})
	if len(d.lines) < before {
		d.trims++
	}
}

func (d *database) find(limit int, want func(l Line) bool) (list []Line, err error) {
	for _, l := range d.lines {
		if want(l) {
			list = append(list, l)
		}
	}
	slices.SortStableFunc(list, func(a, b Line) int { return cmp.Compare(a.Number, b.Number) })
	return list[:min(limit, len(list))], nil
}

func (d *database) linesAbove(number int64, limit int) ([]Line, error) {
	return d.find(limit, func(l Line) bool { return l.Number > number })
}

func (d *database) linesBetween(low, high int64, lastTicks edm.Ticks) ([]Line, error) {
	return d.find(1<<30, func(l Line) bool { return l.Number > low && l.Number <= high && l.Ticks > lastTicks })
}

func (d *database) linesOf(numbers []int64) ([]Line, error) {
	return d.find(1<<30, func(l Line) bool { return slices.Contains(numbers, l.Number) })
}

// consumer reads the feed, in pages of at most limit lines.
type consumer struct {
	*database
	at    []byte
	state [5]edm.Ticks
	limit int
	seen  map[edm.Ticks]bool
	begun int
	how   reading
	wrong error
	cuts  int // number of groups of lines (windows) that ended at the stored snapshot of a line (a mark)
}

// reading is a way to read a feed: either as the store does, or a wrong way that must fail.
type reading struct {
	name string
	page func(c *consumer, p *Position)
}

func (c *consumer) begin() {
	c.begun++
	now := c.snapshot(0)
	p := Position{Point: new(Point{High: since}).afterReading(&now, max(c.floor, c.committedLine())), Trims: c.trims}
	c.close(&p.Point)
	c.state, c.at, c.seen = c.database.state, p.Bytes(), map[edm.Ticks]bool{}
}

func (c *consumer) committedLine() (highest int64) {
	for _, l := range c.lines {
		highest = max(highest, l.Number)
	}
	return highest
}

func (c *consumer) close(p *Point) {
	p.Open = slices.DeleteFunc(p.Open, func(n int64) bool {
		return slices.ContainsFunc(c.running, func(t *transaction) bool { return t.number == n && t.stranger })
	})
}

func (c *consumer) read() {
	p, ok := ParsePosition(c.at)
	if !ok {
		c.wrong = fmt.Errorf("the position %v is damaged", c.at)
		return
	}
	if (&head{floor: c.floor, removedUpTo: c.removed, trims: c.trims}).hasMissed(&p) {
		c.begin()
		return
	}
	p.Trims = c.trims
	c.how.page(c, &p)
	c.at = p.Bytes()
}

func right(c *consumer, p *Position) {
	now := c.snapshot(0)
	left := c.limit
	for {
		w, err := nextWindow(c, p, &now, c.floor, 4)
		if err != nil {
			c.wrong = err
		}
		if w.isCurrent {
			c.close(&w.until)
		} else if p.Until == nil {
			c.cuts++
		}
		for i, l := range w.lines {
			c.apply(l)
			p.Last, p.Number, p.Until = l.Ticks, l.Number, &w.until
			if left--; left == 0 && i < len(w.lines)-1 {
				return
			}
		}
		if p.Point, p.Until = w.until, nil; w.isCurrent || left <= 0 {
			return
		}
	}
}

func (c *consumer) apply(l Line) {
	if c.seen[l.Ticks] {
		c.wrong = fmt.Errorf("the line of %d comes twice", l.Ticks)
	}
	c.seen[l.Ticks] = true
	for _, k := range c.keys[l.Ticks] {
		if l.Ticks < c.state[k] {
			c.wrong = fmt.Errorf("key %d: %d comes after %d", k, l.Ticks, c.state[k])
		}
		c.state[k] = max(c.state[k], l.Ticks)
	}
}

// follows simulates a database with random transactions, and a consumer of the feed. The result is the consumer's
// first error.
func follows(seed uint64, how reading, marks, crashes bool) (*consumer, error) {
	rnd := rand.New(rand.NewPCG(seed, 5))
	d := &database{rnd: rnd, next: since + 1, committed: since, floor: since, last: 1000, keys: map[edm.Ticks][]int{}}
	c := &consumer{database: d, limit: 1 + rnd.IntN(6), how: how}
	c.begin()
	pause, trims := []int{4, 8, 60}[rnd.IntN(3)], []int{10, 100}[rnd.IntN(2)]
	for range 300 {
		d.step(marks)
		if rnd.IntN(pause) == 0 {
			c.read()
		}
		if rnd.IntN(trims) == 0 {
			d.trim(d.last - edm.Ticks(rnd.IntN(60)))
		}
		if crashes && rnd.IntN(100) == 0 {
			d.crash()
		}
	}
	for _, t := range d.running {
		d.commit(t)
	}
	d.running = nil
	for range len(d.lines) + 10 {
		c.read()
	}
	if c.wrong == nil && c.state != d.state {
		c.wrong = fmt.Errorf("the consumer has %v, the table %v", c.state, d.state)
	}
	return c, c.wrong
}

// TestWindows checks that a consumer gets each line once, gets the lines of a key in order, and ends with the state of
// the table. Meanwhile transactions commit in another order than they began, run for long, are rolled back or crash.
// Old lines are removed.
func TestWindows(t *testing.T) {
	t.Parallel()
	cuts, begun := 0, 0
	for seed := range uint64(6000) {
		c, err := follows(seed, reading{"right", right}, seed%4 > 0, true)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		cuts, begun = cuts+c.cuts, begun+c.begun-1
	}
	if cuts < 1000 || begun < 500 {
		t.Errorf("%d windows ended at a mark, and %d times a consumer began again", cuts, begun)
	}
}

// wrongWays are ways to read a feed that miss changes, each for a different reason.
var wrongWays = []reading{
	{"by Timestamps alone", func(c *consumer, p *Position) {
		list, _ := c.find(1<<30, func(l Line) bool { return l.Ticks > p.Last })
		w := window{lines: list}
		w.sort()
		for _, l := range w.lines {
			c.apply(l)
			p.Last = l.Ticks
		}
	}},
	{"by numbers alone", func(c *consumer, p *Position) {
		list, _ := c.linesAbove(p.High, 1<<30)
		for _, l := range list {
			c.apply(l)
			p.High = l.Number
		}
	}},
	{"up to the highest number of the snapshot", func(c *consumer, p *Position) {
		right(c, p)
		if p.Until == nil {
			now := c.snapshot(0)
			p.Point = p.afterReading(&now, now.Max-1)
		}
	}},
	{"without the end of the window", func(c *consumer, p *Position) {
		now := c.snapshot(0)
		w, _ := nextWindow(c, p, &now, c.floor, 1<<20)
		left := c.limit
		for i, l := range w.lines {
			if l.Ticks <= p.Last && p.Ended { // here, the field Ended means that the last page ended before the end of its window (a group of lines)
				continue
			}
			c.apply(l)
			if left--; left == 0 && i < len(w.lines)-1 {
				p.Last, p.Ended = l.Ticks, true
				return
			}
		}
		p.Point, p.Ended = w.until, false
	}},
}

// TestWrongWays proves that the model detects each wrong way to read a feed.
func TestWrongWays(t *testing.T) {
	t.Parallel()
	for _, how := range wrongWays {
		failed := 0
		for seed := range uint64(1000) {
			if _, err := follows(seed, how, false, true); err != nil {
				failed++
			}
		}
		if t.Logf("%s: %d of 1000 histories fail", how.name, failed); failed == 0 {
			t.Errorf("to read %s is right", how.name)
		}
	}
}

// TestPositions checks that a position can be encoded and parsed again, and that other bytes are refused.
func TestPositions(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	point := func() (p Point) {
		p.High = rnd.Int64N(1 << 40)
		for n := rnd.IntN(5); n > 0; n-- {
			if x := p.High - 1 - rnd.Int64N(1000); x >= 0 && !slices.Contains(p.Open, x) {
				p.Open = append(p.Open, x)
			}
		}
		slices.Sort(p.Open)
		return p
	}
	for range 1000 {
		p := Position{Point: point(), Last: edm.Ticks(rnd.Int64()), Number: rnd.Int64N(1 << 40), Ended: rnd.IntN(2) == 0}
		p.Last >>= 1
		if rnd.IntN(2) == 0 {
			p.Until, p.Part = new(point()), rnd.Int64N(3)
		}
		b := p.Bytes()
		q, ok := ParsePosition(b)
		if want := fmt.Sprint(p.Point, p.Last, p.Number, p.Part, p.Trims, p.Ended, p.Until); !ok || fmt.Sprint(q.Point, q.Last, q.Number, q.Part, q.Trims, q.Ended, q.Until) != want {
			t.Fatalf("%s became %+v, %v", want, q, ok)
		}
		for i := range b {
			if _, ok := ParsePosition(b[:i]); ok {
				t.Fatalf("the first %d bytes of %v are a position", i, b)
			}
		}
		if _, ok := ParsePosition(append(b, 0)); ok {
			t.Fatal("a byte too many")
		}
	}
	if _, ok := ParsePosition(make([]byte, longestPosition+1)); ok {
		t.Error("a position that is too long")
	}
	long := Point{High: 1 << 61}
	for n := long.High - longestPoint; !long.isTooLong(); n++ {
		long.Open = append(long.Open, n)
	}
	if _, ok := ParsePosition((&Position{Point: long}).Bytes()); ok {
		t.Error("a position with a point that is too long")
	}
	long.Open = long.Open[1:]
	longest := Position{Point: long, Until: &long, Last: 1 << 62, Number: 1 << 62, Part: 1 << 62, Trims: 1 << 62}
	if _, ok := ParsePosition(longest.Bytes()); !ok {
		t.Error("the longest position is refused")
	}
}

// TestLongMark checks whether a window ends at a mark that names many running transactions. Transactions below the
// reader's highest number make no position longer, so they must not prevent it.
func TestLongMark(t *testing.T) {
	for _, tt := range []struct {
		high, running int64
		want          bool
	}{{5000, 4000, true}, {0, 1000, true}, {4000, 4000, true}, {3900, 4000, false}, {0, 4000, false}} {
		mark := Snapshot{Max: 5002}
		for n := range tt.running {
			mark.Running = append(mark.Running, 5000-tt.running+n)
		}
		list := []Line{{Ticks: 1, Number: 5001}, {Ticks: 2, Number: 5002, mark: mark.bytes()}}
		if w, found := cutAtMark(&Point{High: tt.high}, list, nil); found != tt.want || found && len(w.lines) != 1 {
			t.Errorf("above %d of %d: found is %v", tt.high, tt.running, found)
		}
	}
}
