package restoring

import (
	"encoding/binary"
	"math"
	"slices"

	"edgetable/adapters/store/durableobject/internal/record"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/buckets"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// ChangesOf returns the changes of a bucket, oldest first. They share no memory with rows.
func ChangesOf(rows storage.Rows, key string, bucket uint16) (list []Change) {
	from := RowOfHistory(key, bucket)
	end := binary.BigEndian.AppendUint64(slices.Clone(from), math.MaxUint64)
	for k, v := range rows.Scan(from, end, storage.MostRun) {
		c, ok := ReadChange(slices.Clone(v))
		if len(k) != len(end) || !ok {
			panic("the history of a table is damaged or was written by a later version")
		}
		c.LearnedAt = edm.Ticks(binary.BigEndian.Uint64(k[len(from):]))
		list = append(list, c)
	}
	return list
}

// MapsAt returns the ranges of each bucket and the incarnation of a table at an earlier time. If exact is true, no keys
// were moving then.
func MapsAt(rows storage.Rows, rec *record.Record, now, to edm.Ticks, exact bool) (incarnation table.Incarnation, maps []buckets.Ranges, err error) {
	incarnation = rec.Incarnation
	maps = make([]buckets.Ranges, rec.Layout.Buckets)
	var all []Change
	name := rec.Key.String()
	for n := range maps {
		known, err := record.Named(rows, rec, uint16(n))
		if err != nil {
			return incarnation, nil, err
		}
		maps[n] = known.Ranges
		for _, c := range slices.Backward(ChangesOf(rows, name, uint16(n))) {
			all = append(all, c)
			if c.LearnedAt <= to {
				continue
			}
			ok := false
			if maps[n], ok = c.Undo(maps[n]); !ok {
				panic("the recorded changes of a table's key ranges do not match its current key ranges")
			}
			if c.Restored {
				incarnation = c.OldIncarnation
			}
		}
	}
	if since := storage.Ticks(rows, storage.RowHistory); rec.Split && to < since {
		return incarnation, nil, Refused("Nothing was changed. The table has split into ranges, and its ranges are known only from " + since.String() + " on.")
	}
	if !exact {
		if before, after := StableTimes(all, to); before < after {
			says := "Nothing was changed. Keys of the table moved to another Durable Object, or the table was restored, within a minute of the time to restore. Restore the table to "
			if before > now-Kept {
				says += before.String() + " or earlier, or to "
			}
			return incarnation, nil, Refused(says + after.String() + " or later.")
		}
	}
	return incarnation, maps, nil
}

// Refused returns the error of a restore that is refused for the given reason.
func Refused(reason string) error {
	return &table.Refused{Err: table.NotImplemented.With("The requested operation is not implemented on the specified resource. " + reason)}
}

// StateAt returns the message that requests the platform's bookmark of the state at a time.
func StateAt(at edm.Ticks) []byte {
	// The platform counts milliseconds since 1970, as a float64.
	const unixEpoch, millisecond = 62135596800 * edm.TicksPerSecond, edm.TicksPerSecond / 1000
	return binary.LittleEndian.AppendUint64(nil, math.Float64bits(float64((at-unixEpoch)/millisecond)))
}
