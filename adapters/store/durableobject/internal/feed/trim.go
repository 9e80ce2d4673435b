package feed

import (
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/edm"
)

// Trim removes the lines that their feed no longer has to keep. It reports whether it removed the last feed.
func (f *Feed) Trim(rows storage.Rows, now edm.Ticks) (last bool) {
	f.Due = 0
	all := heads(rows)
	for _, h := range all {
		if f.head != nil && f.head.Incarnation == h.Incarnation {
			h = f.head
		}
		if before := h.untilDay(all, now); h.First != 0 && h.First < before {
			h.forgetDays(rows, before)
			h.put(rows)
		}
		switch due := h.nextTrim(); {
		case h.EndReason != NotEnded && h.First == 0 && due <= now:
			rows.Delete(rowOf(h.Incarnation))
		case due != 0 && (f.Due == 0 || due < f.Due):
			f.Due = max(due, now+retry)
		}
	}
	return len(all) > 0 && len(heads(rows)) == 0
}

// retry is the time after which the alarm tries again to remove a day of lines, if another incarnation of the table
// still needs some of them.
const retry = 3600 * edm.TicksPerSecond

// untilDay returns the first day whose lines must be kept. A day may have lines of two incarnations.
func (h *Head) untilDay(all []*Head, now edm.Ticks) uint32 {
	day := storage.DayOf(now - h.Retention)
	for _, other := range all {
		if other.Incarnation != h.Incarnation && other.First != 0 {
			day = min(day, max(storage.DayOf(now-other.Retention), other.First))
		}
	}
	return day
}

// Shed removes the oldest day of lines of a full object, but never the last day. It reports whether it
// removed a day.
func (f *Feed) Shed(rows storage.Rows) bool {
	h := f.head
	if h == nil || h.First == 0 || h.First >= h.Last {
		return false
	}
	h.loseDays(rows, h.First+1)
	h.put(rows)
	return true
}
