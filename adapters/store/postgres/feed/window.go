package feed

import (
	"slices"

	"edgetable/core/edm"
)

// Line describes a line whose keys are not read yet.
type Line struct {
	Ticks  edm.Ticks
	Number int64 // number of the transaction
	size   int64 // size of the keys
	mark   []byte
}

// window is a part of a feed, in the order of Timestamps.
type window struct {
	lines []Line
	until Point
	now   bool // contains everything that the reader's snapshot shows
}

// lines reads the lines of a feed in one snapshot.
type lines interface {
	// above returns the first lines with a transaction number above number, ordered by number.
	above(number int64, limit int) ([]Line, error)
	// between returns the lines with a transaction number above above, up to upTo, and a Timestamp after after.
	between(above, upTo int64, after edm.Ticks) ([]Line, error)
	// among returns the lines of these transactions.
	among(numbers []int64) ([]Line, error)
}

// next returns the rest of the window that contains the position, or else the window after it. now is the snapshot
// that shows the lines. floor is the highest number of a removed line that the reader has not missed. some is the
// number of lines to read first; each further attempt reads four times as many.
func next(from lines, p *Position, now *Snapshot, floor int64, some int) (w window, err error) {
	var open []Line
	if len(p.Open) > 0 {
		if open, err = from.among(p.Open); err != nil {
			return w, err
		}
	}
	if until := p.Until; until != nil {
		list, err := from.between(p.High, until.High, p.Last)
		w = window{lines: slices.DeleteFunc(append(list, open...), func(l Line) bool { return l.Ticks <= p.Last || !until.Has(l.Number) }), until: *until}
		w.sort()
		return w, err
	}
	for ; ; some *= 4 {
		list, err := from.above(p.High, some)
		if err != nil {
			return w, err
		}
		if len(list) == some {
			if w, found := cut(&p.Point, list, open); found {
				return w, nil
			}
			continue
		}
		w = take(&p.Point, now, list, open, floor)
		w.now = true
		return w, nil
	}
}

func (w *window) sort() {
	slices.SortFunc(w.lines, func(a, b Line) int { return int(a.Ticks - b.Ticks) })
}

// longestMark is the maximum number of running transactions in a mark that ends a window, since they become part of
// positions.
const longestMark = 64

// cut ends a window after p at the last mark that shows some of the lines. next are the first lines with a number
// above p.High, ordered by number; open are those of p.Open. A mark is not used if it shows numbers above that of its
// line, since the numbers of rolled back transactions among them can be used again.
func cut(p *Point, next, open []Line) (w window, found bool) {
	for _, l := range slices.Backward(next) {
		s, ok := ParseSnapshot(l.mark)
		if !ok || s.Max > l.Number || len(s.Running) > longestMark {
			continue
		}
		if w = take(p, &s, next, open, 0); len(w.lines) > 0 {
			return w, true
		}
	}
	return w, false
}

// take makes a window of the lines that a snapshot shows. committed is a number known to be committed.
func take(p *Point, s *Snapshot, next, open []Line, committed int64) (w window) {
	highest := committed
	for _, list := range [][]Line{next, open} {
		for _, l := range list {
			if s.Shows(l.Number) {
				w.lines, highest = append(w.lines, l), max(highest, l.Number)
			}
		}
	}
	w.until = p.after(s, highest)
	w.sort()
	return w
}
