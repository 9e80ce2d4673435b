package feed

import (
	"slices"

	"edgetable/core/edm"
)

// Line is a line of a feed without its keys. The reader reads the keys later.
type Line struct {
	Ticks  edm.Ticks
	Number int64 // number of the transaction
	size   int64 // size of the keys in bytes
	mark   []byte
}

// window is a set of lines that a reader reads together, ordered by Timestamp.
type window struct {
	lines []Line
	until Point
	now   bool // the window ends at the reader's snapshot, and not at the mark (the stored snapshot) of a line
}

type lines interface {
	// above returns the first lines with a transaction number above number, ordered by transaction number.
	above(number int64, limit int) ([]Line, error)
	// between returns the lines with above < transaction number <= upTo and with a Timestamp later than after.
	between(above, upTo int64, after edm.Ticks) ([]Line, error)
	// among returns the lines of the transactions with these numbers.
	among(numbers []int64) ([]Line, error)
}

// next returns the rest of the window that contains the position. If the position is not inside a window, next returns the window
// after it. now is the reader's snapshot. floor is the highest transaction number of a removed line; the reader has read all
// removed lines. The first attempt reads some lines (a number), and each further attempt reads four times as many.
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

// longestMark is the maximum number of running transactions in a mark (a stored snapshot) at which a window can end. The position
// contains these transactions, and the length of a position is limited.
const longestMark = 64

// cut returns the window after p that ends at the last usable mark. A mark is the snapshot that is stored in a line. next contains
// the first lines with a number above p.High, ordered by number; open contains those of p.Open. cut skips a mark that shows numbers
// above that of its line: such a transaction may have been rolled back, and PostgreSQL may reuse its number after a crash.
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

// newWindow returns the window of those lines that a snapshot shows. committed is a transaction number that is known to be committed.
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
