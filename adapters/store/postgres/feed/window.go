package feed

import (
	"slices"

	"edgetable/core/edm"
)

// Line is a line of a feed without its keys, which are read later.
type Line struct {
	Ticks  edm.Ticks
	Number int64 // number of the transaction
	size   int64 // size of the keys in bytes
	mark   []byte
}

// window is a set of lines that are read together, ordered by Timestamp.
type window struct {
	lines []Line
	until Point
	now   bool // the window ends at the reader's snapshot, and not at a mark
}

// lines reads the lines of one feed in one snapshot.
type lines interface {
	// above returns the first lines whose transaction number is higher than number, ordered by it.
	above(number int64, limit int) ([]Line, error)
	// between returns the lines with above < transaction number <= upTo and with a Timestamp later than after.
	between(above, upTo int64, after edm.Ticks) ([]Line, error)
	// among returns the lines of these transactions.
	among(numbers []int64) ([]Line, error)
}

// next returns the rest of the window that contains the position, or else the window after it. now is the reader's
// snapshot. floor is the highest number of a removed line; the reader has missed none of these. some is the number of
// lines that the first attempt reads; each further attempt reads four times as many.
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
		w = newWindow(&p.Point, now, list, open, floor)
		w.now = true
		return w, nil
	}
}

func (w *window) sort() {
	slices.SortFunc(w.lines, func(a, b Line) int { return int(a.Ticks - b.Ticks) })
}

// longestMark is the maximum number of running transactions in a mark that can end a window. They become a part of
// the position, whose length is limited.
const longestMark = 64

// cut returns the window after p that ends at the last mark which shows some of the lines. next are the first lines with a number
// above p.High, ordered by number; open are those of p.Open. A mark that shows numbers above that of its line is not used: such a
// number may belong to a transaction that was rolled back, and may be given again after a crash.
func cut(p *Point, next, open []Line) (w window, found bool) {
	for _, l := range slices.Backward(next) {
		s, ok := ParseSnapshot(l.mark)
		if !ok || s.Max > l.Number || len(s.Running) > longestMark {
			continue
		}
		if w = newWindow(p, &s, next, open, 0); len(w.lines) > 0 {
			return w, true
		}
	}
	return w, false
}

// newWindow returns the window of those lines that a snapshot shows. committed is a number that is known to be committed.
func newWindow(p *Point, s *Snapshot, next, open []Line, committed int64) (w window) {
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
