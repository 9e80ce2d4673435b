package storage

import (
	"encoding/binary"

	"edgetable/core/edm"
)

// The lines of feeds are rows as well, whose keys have SpaceLines, the day and the Timestamp. The storage keeps the rows of
// each day together, apart from all others, so that a day is removed as a whole, without a price for each row.

const ticksOfDay = 24 * 3600 * edm.TicksPerSecond

// DayOf is the day of a Timestamp. The first one of the year 1 is 1.
func DayOf(t edm.Ticks) uint32 { return uint32(max(t, 0)/ticksOfDay) + 1 }

// EndOfDay is the first Timestamp of the next day.
func EndOfDay(day uint32) edm.Ticks { return edm.Ticks(day) * ticksOfDay }

// BeginOfDay is the first Timestamp of a day.
func BeginOfDay(day uint32) edm.Ticks { return EndOfDay(day - 1) }

// LineKey is the key of the line with a Timestamp, or where it would be.
func LineKey(t edm.Ticks) []byte {
	return binary.BigEndian.AppendUint64(dayKey(DayOf(t)), uint64(max(t, 0)))
}

// DayAfter bounds the keys of a day.
func DayAfter(day uint32) []byte { return dayKey(day + 1) }

func dayKey(day uint32) []byte {
	k := make([]byte, 0, 12)
	return append(k, SpaceLines, byte(day>>16), byte(day>>8), byte(day))
}

// TicksOfLine is the Timestamp of the line with a key.
func TicksOfLine(k []byte) edm.Ticks {
	if len(k) != 12 {
		panic("a line of a feed is damaged or of a later version")
	}
	return edm.Ticks(binary.BigEndian.Uint64(k[4:]))
}
