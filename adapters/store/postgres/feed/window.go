package feed

import (
	"cmp"
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
	lines     []Line
	until     Point
	isCurrent bool // the window ends at the reader's current snapshot instead of a mark
}

type lines interface {
	// linesAbove reads lines of transactions with numbers above the given number, in the order of the numbers.
	linesAbove(number int64, limit int) ([]Line, error)
	// linesBetween reads the lines of transactions with numbers in (low, high] whose Timestamps are > lastTicks.
	linesBetween(low, high int64, lastTicks edm.Ticks) ([]Line, error)
	// linesOf reads the lines of the transactions that have the given numbers.
	linesOf(numbers []int64) ([]Line, error)
}

// nextWindow returns the next window, or the rest of the window that contains the position p. The other arguments are:
//   - current: the reader's snapshot
//   - floor: the highest transaction number of a removed line; the reader has read all removed lines
//   - limit: the number of lines that the first attempt reads; each further attempt reads four times as many
func nextWindow(from lines, p *Position, current *Snapshot, floor int64, limit int) (w window, err error) {
	var open []Line
	if len(p.Open) > 0 {
		if open, err = from.linesOf(p.Open); err != nil {
			return w, err
		}
	}
	if until := p.Until; until != nil {
		after := p.readUpTo()
		list, err := from.linesBetween(p.High, until.High, after)
		w = window{lines: slices.DeleteFunc(append(list, open...), func(l Line) bool { return l.Ticks <= after || !until.Has(l.Number) }), until: *until}
		w.sort()
		return w, err
	}
	for ; ; limit *= 4 {
		list, err := from.linesAbove(p.High, limit)
		if err != nil {
			return w, err
		}
		if len(list) == limit {
			if w, found := cutAtMark(&p.Point, list, open); found {
				return w, nil
			}
			continue
		}
		w = newWindow(&p.Point, current, list, open, floor)
		w.isCurrent = true
		return w, nil
	}
}

func (w *window) sort() {
	slices.SortFunc(w.lines, func(a, b Line) int { return cmp.Compare(a.Ticks, b.Ticks) })
}

// cutAtMark returns the lines after p up to the last usable mark. The arguments are:
//   - newer: the first lines above p.High, ordered by number
//   - open: the lines of the transactions in p.Open
//
// A mark is not usable if it shows a higher transaction number than its line has. After a crash, another transaction
// may get the higher number. A mark is not usable either if so many transactions were running that the position would
// be too long.
func cutAtMark(p *Point, newer, open []Line) (w window, found bool) {
	for _, l := range slices.Backward(newer) {
		s, ok := ParseSnapshot(l.mark)
		if !ok || s.Max > l.Number {
			continue
		}
		if until := p.afterReading(&s, l.Number); until.isTooLong() {
			continue
		}
		if w = newWindow(p, &s, newer, open, 0); len(w.lines) > 0 {
			return w, true
		}
	}
	return w, false
}

// newWindow returns a window of the lines that s shows. committed is the number of a committed transaction, or 0.
func newWindow(p *Point, s *Snapshot, newer, open []Line, committed int64) (w window) {
	highest := committed
	for _, list := range [][]Line{newer, open} {
		for _, l := range list {
			if s.Shows(l.Number) {
				w.lines, highest = append(w.lines, l), max(highest, l.Number)
			}
		}
	}
	w.until = p.afterReading(s, highest)
	w.sort()
	return w
}
