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

func (w *window) sort() {
	slices.SortFunc(w.lines, func(a, b Line) int { return int(a.Ticks - b.Ticks) })
}

// longestMark is the most running transactions of a mark at which a window ends: they become
// part of positions.
const longestMark = 64

// cut ends a window after p at the last mark by which all lines are among those that were read:
// next are those with a number above p.High, in the order of their numbers and not all, and
// open those of p.Open.
func cut(p *Point, next, open []Line) (w window, found bool) {
	if len(next) == 0 {
		return w, false
	}
	last := next[len(next)-1].Number // of which some may not be among them
	for _, l := range slices.Backward(next) {
		s, ok := ParseSnapshot(l.mark)
		if !ok || s.Max > last || len(s.Running) > longestMark {
			continue
		}
		s.hide(l.Number)
		if w = take(p, &s, next, open, 0); len(w.lines) > 0 {
			return w, true
		}
	}
	return w, false
}

// hide has the snapshot of a statement not show the transaction of the statement itself: a
// later statement of that may follow changes that the snapshot does not show.
func (s *Snapshot) hide(number int64) {
	if i, found := slices.BinarySearch(s.Running, number); !found {
		s.Running = slices.Insert(s.Running, i, number)
	}
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
