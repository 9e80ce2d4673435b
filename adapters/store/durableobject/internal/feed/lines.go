package feed

import (
	"encoding/binary"

	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/edm"
)

// backward iterates over the lines of a feed before a Timestamp, in descending order.
func (h *Head) backward(rows storage.Rows, timestamp edm.Ticks) func(yield func(k, v []byte) bool) {
	return func(yield func(k, v []byte) bool) {
		if h.First == 0 {
			return
		}
		for day := min(h.Last, storage.DayOf(timestamp)); day >= h.First; day-- {
			from, to := storage.LineKey(storage.BeginOfDay(day)), storage.DayAfter(day)
			if storage.DayOf(timestamp) == day {
				to = storage.LineKey(timestamp)
			}
			for k, v := range rows.ScanBack(from, to, 1<<10) {
				if !yield(k, v) {
					return
				}
			}
		}
	}
}

// lastLine returns the last line before a Timestamp. The line is valid until the next call of rows.
func (h *Head) lastLine(rows storage.Rows, timestamp edm.Ticks) (k, v []byte, ok bool) {
	for k, v := range h.backward(rows, timestamp) {
		return k, v, true
	}
	return nil, nil, false
}

const ever edm.Ticks = 1<<63 - 1

// overhead is the approximate size of a row in bytes without its key and value.
const overhead = 20

// sumOf returns the number at the beginning of a line: the size of all earlier lines in bytes.
func sumOf(v []byte) uint64 { n, _ := binary.Uvarint(v); return n }

func sizeOf(k, v []byte) uint64 { return uint64(len(k) + len(v) + overhead) }

// nextTrim returns the time at which the alarm must next remove lines or the head of the feed, or 0 if there is nothing
// to remove.
func (h *Head) nextTrim() edm.Ticks {
	switch {
	case h.First != 0:
		return storage.EndOfDay(h.First) + h.Retention
	case h.EndReason == NotEnded:
		return 0
	}
	return h.removable()
}

// removable returns the time after which the Head of an ended feed can be removed.
func (h *Head) removable() edm.Ticks {
	if h.EndReason == Dropped {
		return h.End + h.Retention
	}
	return h.End + max(keepsMarks, h.Retention)
}

// forgetDays removes the lines of all days before the given day, and records the Timestamp of the last removed line.
func (h *Head) forgetDays(rows storage.Rows, day uint32) {
	if k, v, ok := h.lastLine(rows, storage.BeginOfDay(day)); ok {
		h.Floor = max(h.Floor, storage.TicksOfLine(k))
		h.RemovedBytes = sumOf(v) + sizeOf(k, v)
	}
	h.dropDays(rows, day)
}

// loseDays removes the lines of all days before the given day, even if they should be kept. An earlier incarnation with
// lines of these days then counts as removed.
func (h *Head) loseDays(rows storage.Rows, day uint32) {
	for _, other := range heads(rows) {
		if other.Incarnation != h.Incarnation && other.First != 0 && other.Last >= h.First {
			other.Floor = max(other.Floor, other.End)
			other.put(rows)
		}
	}
	h.forgetDays(rows, day)
}
