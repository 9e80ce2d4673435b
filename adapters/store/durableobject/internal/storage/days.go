package storage

import (
	"encoding/binary"

	"edgetable/core/edm"
)

// The lines of feeds are rows, too, with the key SpaceLines, day, Timestamp. The storage separates the days, so that a
// day can be removed without a charge for each row.

const ticksOfDay = 24 * 3600 * edm.TicksPerSecond

// DayOf returns the day of a Timestamp. The first day of the year 1 is day 1.
func DayOf(t edm.Ticks) uint32 { return uint32(max(t, 0)/ticksOfDay) + 1 }

// EndOfDay returns the first Timestamp of the next day.
func EndOfDay(day uint32) edm.Ticks { return edm.Ticks(day) * ticksOfDay }

// BeginOfDay returns the first Timestamp of a day.
func BeginOfDay(day uint32) edm.Ticks { return EndOfDay(day - 1) }

// LineKey returns the key of a line with the given Timestamp.
func LineKey(t edm.Ticks) []byte {
	return binary.BigEndian.AppendUint64(dayKey(DayOf(t)), uint64(max(t, 0)))
}

// DayAfter returns the upper bound of the keys of a day.
func DayAfter(day uint32) []byte { return dayKey(day + 1) }

func dayKey(day uint32) []byte {
	k := make([]byte, 0, 12)
	return append(k, SpaceLines, byte(day>>16), byte(day>>8), byte(day))
}

// TicksOfLine returns the Timestamp in the key of a line.
func TicksOfLine(k []byte) edm.Ticks {
	if len(k) != 12 {
		panic("a line of a feed is damaged or was written by a later version")
	}
	return edm.Ticks(binary.BigEndian.Uint64(k[4:]))
}
