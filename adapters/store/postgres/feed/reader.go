package feed

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/statement"
	"edgetable/core/edm"
	"edgetable/core/table"
)

const (
	// firstLines is the number of lines that the first attempt to find a window reads. Each further attempt reads four
	// times as many lines.
	firstLines = 1000
	// keyBytes and rowBytes are approximate limits on the keys and the properties that one statement reads.
	keyBytes = 1 << 20
	rowBytes = 4 << 20
)

// need is a task that must be done before the page can be read.
type need uint8

const (
	nothing  need = iota
	moving        // the database is a new copy, so the store must first record that the feeds belong to the copy
	settling      // writes that began before the feed was declared, or before the table was dropped, may still be running
	looking       // a transaction ended during the read, and it is unknown whether the transaction has lines
)

// reader reads one page in a read-only transaction.
type reader struct {
	conn    *pgconn.PgConn
	name    table.RecordKey
	request *table.FeedRequest
	instant edm.Ticks // time at which expiry is decided; taken before the transaction begins
	exact   bool      // leave a transaction of unknown state in Point.Open, instead of reading the page again

	head    head
	history table.History
	at      Position
	builder table.FeedBuilder
	refusal error
	need    need
}

// read reads a page. If it cannot, it sets r.refusal, or it sets r.need to a task that must be done first.
func (r *reader) read(ctx context.Context) (err error) {
	if _, err = statement.Query(ctx, r.conn, statement.Begin, nil); err != nil {
		return err
	}
	defer func() { // end the transaction, also after an error
		_, end := statement.Query(ctx, r.conn, statement.Commit, nil)
		err = cmp.Or(err, end)
	}()
	if err = r.begin(ctx); err != nil || r.refusal != nil || r.need != nothing {
		return err
	}
	r.builder = table.NewFeedBuilder(r.request)
	b := &r.builder
	b.Traits, b.Now = r.head.traits, r.instant
	b.Page.Next = table.FeedPosition{Incarnation: r.head.incarnation, History: r.history}
	b.Part, b.PartOf = int(r.at.Part), r.at.Last
	full := false
	if r.request.From != nil || r.request.Oldest {
		full, err = r.windows(ctx)
	}
	if err == nil && !full && r.need == nothing {
		b.Page.Next.At = r.at.Bytes()
	}
	return err
}

// begin reads the description of the feed and determines the position at which the page begins.
func (r *reader) begin(ctx context.Context) error {
	var at home
	if _, err := statement.Query(ctx, r.conn, statement.FeedHome, func(v [][]byte) error {
		at = readHome(v)
		return nil
	}); err != nil {
		return err
	}
	if !at.at {
		r.need = moving
		return nil
	}
	r.history = at.history()
	var of []byte
	if r.request.From != nil {
		of = r.request.From.Incarnation[:]
	}
	var exists bool
	_, err := statement.Query(ctx, r.conn, statement.FeedHead, func(v [][]byte) error {
		r.head, exists, r.refusal = readHead(r.name.String(), of, v)
		return nil
	}, []byte(r.name.String()), of)
	if err != nil || r.refusal != nil {
		return err
	}
	if r.refusal = r.head.refuse(r.request, exists); r.refusal != nil {
		return nil
	}
	if !r.head.isSettled {
		r.need = settling
		return nil
	}
	switch {
	case r.request.From != nil:
		return r.resume(ctx)
	case r.request.Oldest:
		r.at = Position{Point: Point{High: r.head.firstNumber}, Trims: r.head.trims}
		return nil
	}
	return r.moveToEnd(ctx)
}

// resume checks the position in the request and moves the reader to it.
func (r *reader) resume(ctx context.Context) (err error) {
	p, ok := ParsePosition(r.request.From.At)
	switch {
	case !ok || r.request.From.History != r.history || p.High >= r.head.snapshot.Max || p.Until != nil && p.Until.High >= r.head.snapshot.Max:
		r.refusal = table.ErrHistory
	case r.head.hasMissed(&p):
		r.refusal = table.ErrFeedExpired
	case p.Ended:
		r.refusal = table.ErrFeedEnded
	case p.Number != 0 && p.Last > r.head.removedUpTo:
		there := false
		if _, err = statement.Query(ctx, r.conn, statement.FeedWitness, func(v [][]byte) error {
			there = true
			return nil
		}, statement.Int8(r.head.life), statement.Int8(p.Number), statement.Int8(int64(p.Last))); err == nil && !there {
			r.refusal = table.ErrHistory
		}
	}
	r.at = p
	r.at.Trims = r.head.trims
	return err
}

func (r *reader) moveToEnd(ctx context.Context) error {
	r.at = Position{Point: Point{High: r.head.firstNumber}, Trims: r.head.trims}
	_, err := statement.Query(ctx, r.conn, statement.FeedLast, func(v [][]byte) error {
		r.at.Last, r.at.Number = edm.Ticks(statement.Number(v[0])), statement.Number(v[1])
		return nil
	}, statement.Int8(r.head.life), statement.Int8(int64(r.head.begunAt)))
	if err != nil {
		return err
	}
	r.at.Point = r.at.afterReading(&r.head.snapshot, max(r.head.floor, r.at.Number))
	err = r.removeIdle(ctx, &r.at.Point)
	r.limit(&r.at.Point)
	return err
}

// windows appends one window after another, until the page is full or contains all lines that the snapshot shows.
func (r *reader) windows(ctx context.Context) (full bool, err error) {
	for {
		w, err := r.window(ctx)
		if err != nil || r.need != nothing {
			return false, err
		}
		if full, err = r.appendWindow(ctx, &w); full || err != nil {
			return full, err
		}
		r.at.Point, r.at.Until, r.at.Part = w.until, nil, 0
		if w.isCurrent {
			break
		}
	}
	if r.head.endedAt == 0 {
		return false, nil
	}
	r.at.Ended = true
	full, r.refusal = r.builder.Add(max(r.head.endedAt, r.at.Last+1), func(int) []byte { return r.at.Bytes() }, table.AppendFeedDrop(nil, r.name))
	return full, nil
}

// window reads the next window, or the rest of the window that contains the reader's position.
func (r *reader) window(ctx context.Context) (w window, err error) {
	w, err = nextWindow(&source{r, ctx}, &r.at, &r.head.snapshot, r.head.floor, firstLines)
	if err == nil && w.isCurrent {
		err = r.removeIdle(ctx, &w.until)
	}
	r.limit(&w.until)
	return w, err
}

// limit requests another read of the page if p is too long for a position.
func (r *reader) limit(p *Point) {
	if p.isTooLong() {
		r.need = looking
	}
}

type source struct {
	*reader
	ctx context.Context
}

func (s *source) linesAbove(number int64, limit int) ([]Line, error) {
	return s.lines(s.ctx, statement.FeedNext, statement.Int8(number), statement.Int8(int64(s.head.begunAt)), statement.Int8(int64(limit)))
}

func (s *source) linesBetween(low, high int64, lastTicks edm.Ticks) ([]Line, error) {
	return s.lines(s.ctx, statement.FeedBetween, statement.Int8(low), statement.Int8(high), statement.Int8(int64(max(s.head.begunAt, lastTicks))))
}

func (s *source) linesOf(numbers []int64) ([]Line, error) {
	list := make([][]byte, len(numbers))
	for i, n := range numbers {
		list[i] = statement.Int8(n)
	}
	return s.lines(s.ctx, statement.FeedOpen, statement.Array(statement.OIDInt8, list), statement.Int8(int64(s.head.begunAt)))
}

func (r *reader) lines(ctx context.Context, query statement.Prepared, args ...[]byte) (list []Line, err error) {
	_, err = statement.Query(ctx, r.conn, query, func(v [][]byte) error {
		l := Line{Ticks: edm.Ticks(statement.Number(v[0])), Number: statement.Number(v[1]), size: statement.Number(v[2])}
		if len(v) > 3 {
			l.mark = bytes.Clone(v[3])
		}
		list = append(list, l)
		return nil
	}, append([][]byte{statement.Int8(r.head.life)}, args...)...)
	return list, err
}

// removeIdle removes from p.Open the running transactions that will add no lines, because they hold no lock on the SQL
// table change.
//
// The locks of a transaction that is just ending may be invisible. A second query therefore checks that the transaction
// is still running.
func (r *reader) removeIdle(ctx context.Context, p *Point) error {
	if len(p.Open) == 0 {
		return nil
	}
	adds := map[uint32]bool{}
	if _, err := statement.Query(ctx, r.conn, statement.FeedRunning, func(v [][]byte) error {
		adds[uint32(statement.Number(v[0]))] = len(v[1]) == 1 && v[1][0] == 1
		return nil
	}); err != nil {
		return err
	}
	var idle [][]byte
	for _, number := range p.Open {
		if adds, runs := adds[uint32(number)]; runs && !adds {
			idle = append(idle, statement.Int8(number))
		}
	}
	undecided := map[int64]bool{}
	if len(idle) > 0 {
		if _, err := statement.Query(ctx, r.conn, statement.FeedUndecided, func(v [][]byte) error {
			undecided[statement.Number(v[0])] = true
			return nil
		}, statement.Array(statement.OIDInt8, idle)); err != nil {
			return err
		}
	}
	p.Open = slices.DeleteFunc(p.Open, func(number int64) bool {
		if !adds[uint32(number)] && !undecided[number] && !r.exact && r.head.snapshot.runs(number) {
			r.need = looking // the transaction has ended meanwhile; the next snapshot shows its lines, if there are any
		}
		return undecided[number]
	})
	return nil
}

func (s *Snapshot) runs(number int64) bool { return number < s.Max && !s.Shows(number) }

func (r *reader) appendWindow(ctx context.Context, w *window) (full bool, err error) {
	for rest := w.lines; len(rest) > 0 && !full; {
		n, size := 1, rest[0].size
		for n < len(rest) && n < firstLines && size+rest[n].size <= keyBytes {
			size += rest[n].size
			n++
		}
		some := rest[:n]
		rest = rest[n:]
		keys, err := r.keysOf(ctx, some)
		if err != nil || r.refusal != nil {
			return true, err
		}
		if r.builder.Read, err = r.readEntities(ctx, some, keys); err != nil {
			return false, err
		}
		for i, l := range some {
			at := Position{Point: r.at.Point, Until: &w.until, Last: l.Ticks, Number: l.Number, Trims: r.at.Trims}
			last := i == len(some)-1 && len(rest) == 0
			r.at.Last, r.at.Number, r.at.Part = l.Ticks, l.Number, 0
			if full, r.refusal = r.builder.Add(l.Ticks, func(part int) []byte {
				p := at
				if p.Part = int64(part); part == 0 && last {
					p.Point, p.Until = w.until, nil
				}
				return p.Bytes()
			}, keys[i]); full || r.refusal != nil {
				return true, nil
			}
		}
	}
	return full, nil
}

var errLine = errors.New("a line of a feed is missing, although the same snapshot listed it")

func (r *reader) keysOf(ctx context.Context, lines []Line) ([][]byte, error) {
	numbers, ticks, keys := make([][]byte, len(lines)), make([][]byte, len(lines)), make([][]byte, len(lines))
	for i, l := range lines {
		numbers[i], ticks[i] = statement.Int8(l.Number), statement.Int8(int64(l.Ticks))
	}
	_, err := statement.Query(ctx, r.conn, statement.FeedKeys, func(v [][]byte) error {
		if keys[statement.Number(v[0])-1] = bytes.Clone(v[1]); v[1] == nil {
			r.refusal = errLine
		}
		return nil
	}, statement.Int8(r.head.life), statement.Array(statement.OIDInt8, numbers), statement.Array(statement.OIDInt8, ticks))
	return keys, err
}

// readEntities reads the entities that the lines of a page have changed. Each call of the returned function returns the
// next entity, in the order of the page builder's requests. readEntities finds this order with a copy of the builder.
func (r *reader) readEntities(ctx context.Context, lines []Line, keys [][]byte) (func(k []byte) (*table.Row, error), error) {
	if r.head.endedAt != 0 {
		return func([]byte) (*table.Row, error) { return nil, nil }, nil // the table was dropped, so its entities do not exist
	}
	var of entities
	dry := r.builder
	dry.Page.Commits = nil
	line := 0
	dry.Read = func(k []byte) (*table.Row, error) {
		of.keys, of.ticks = append(of.keys, bytes.Clone(k)), append(of.ticks, statement.Int8(int64(lines[line].Ticks)))
		return nil, nil
	}
	for line = range lines {
		if full, err := dry.Add(lines[line].Ticks, func(int) []byte { return nil }, keys[line]); full || err != nil {
			break // the page is full or has an error; the real builder will stop at the same line
		}
	}
	if len(of.keys) == 0 {
		return dry.Read, nil
	}
	of.rows = make([]*table.Row, len(of.keys))
	if err := of.fetch(ctx, r.conn, r.head.life); err != nil {
		return nil, err
	}
	next := 0
	return func([]byte) (*table.Row, error) {
		next++
		if next > of.known {
			if err := of.fetch(ctx, r.conn, r.head.life); err != nil {
				return nil, err
			}
		}
		return of.rows[next-1], nil
	}, nil
}

// entities contains the entities that the lines of a page have changed, in the order of the page.
type entities struct {
	keys, ticks [][]byte
	rows        []*table.Row // nil if the entity was changed again and now has another Timestamp
	known       int          // number of elements of rows that have been read
}

// fetch reads the next entities, with about rowBytes of properties at most.
func (e *entities) fetch(ctx context.Context, c *pgconn.PgConn, life int64) error {
	from, size, last := e.known, 0, 0
	_, err := statement.Query(ctx, c, statement.FeedRows, func(v [][]byte) error {
		last = from + int(statement.Number(v[0]))
		size += len(v[2])
		e.rows[last-1] = &table.Row{
			Key: e.keys[last-1], Timestamp: edm.Ticks(statement.Number(e.ticks[last-1])), Nonce: uint64(statement.Number(v[1])), Properties: bytes.Clone(v[2]),
		}
		return nil
	}, statement.Int8(life), statement.Array(statement.OIDBytes, e.keys[from:]), statement.Array(statement.OIDInt8, e.ticks[from:]), statement.Int8(rowBytes))
	if e.known = len(e.keys); size >= rowBytes {
		e.known = last
	}
	return err
}
