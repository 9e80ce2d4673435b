package feed

import (
	"slices"

	"edgetable/core/edm"
)

// Line is what is read of a line before its keys are.
type Line struct {
	Ticks  edm.Ticks
	Number int64 // of the transaction
	size   int64 // of the keys
	mark   []byte
}

// window is a part of a feed, in the order of Timestamps.
type window struct {
	lines []Line
	until Point
	now   bool // it has all that the snapshot of the reader shows
}

// lines are those of a feed, as one snapshot shows them.
type lines interface {
	// above returns the first lines whose numbers are above one, in the order of the numbers.
	above(number int64, limit int) ([]Line, error)
	// between returns the lines of some numbers whose Timestamps are after one.
	between(above, upTo int64, after edm.Ticks) ([]Line, error)
	// among returns the lines of these numbers.
	among(numbers []int64) ([]Line, error)
}

// next returns what is left of the window in which a position is, or the window after it. now
// is the snapshot that shows the lines, and floor the highest number of a line that was removed
// and is not missed. It looks at some lines at first, and at four times as
// many each further time.
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

// longestMark is the most running transactions of a mark at which a window ends: they become
// part of positions.
const longestMark = 64

// cut ends a window after p at the last mark that shows some of the lines: next are those with a
// number above p.High, in the order of their numbers and not all, and open those of p.Open. A mark that shows numbers above that of its line is none: of those, the
// ones of undone transactions can come again.
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

// take makes a window of the lines that a snapshot shows. committed is a number that was.
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
