// Package purges stores which incarnations must be purged from the replica, and when.
package purges

import (
	"encoding/binary"

	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Put stores the time at which an incarnation can be purged from the replica.
func Put(rows storage.Rows, incarnation table.Incarnation, due edm.Ticks) {
	storage.PutTicks(rows, storage.RowOf(storage.SpacePurges, string(incarnation[:])), due)
}

// Each calls f for each incarnation that must be purged, until f returns false.
func Each(rows storage.Rows, f func(incarnation table.Incarnation, due edm.Ticks) bool) {
	for k, v := range rows.Scan([]byte{storage.SpacePurges}, []byte{storage.SpacePurges + 1}, 4<<10) {
		if len(k) == 1+len(table.Incarnation{}) && len(v) == 8 &&
			!f(table.Incarnation(k[1:]), edm.Ticks(binary.BigEndian.Uint64(v))) {
			return
		}
	}
}

// Next returns the time at which the next incarnation can be purged, or 0 if there is none.
func Next(rows storage.Rows) (time edm.Ticks) {
	Each(rows, func(_ table.Incarnation, due edm.Ticks) bool {
		if time == 0 || due < time {
			time = due
		}
		return true
	})
	return time
}
