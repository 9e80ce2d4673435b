package engine

import (
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
)

// leaveAfter is the time without writes after which an empty range merges, and the time without load after which a
// small range merges.
const leaveAfter = 3600 * edm.TicksPerSecond

// lookLater schedules the check, after leaveAfter, whether the range is empty. It is also called after the bounds of
// the range have changed, because the new bounds may contain no entities.
func (x *splitting) lookLater(t *turn.Turn, b *bucket) {
	if b.marker.Bounds().End != nil && (x.look <= t.Now || x.look > t.Now+2*leaveAfter) {
		x.look = t.Now + leaveAfter
	}
}
