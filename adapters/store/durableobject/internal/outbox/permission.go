package outbox

import (
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
)

// A bucket publishes only if the catalog permits it. The bucket asks each time it wakes up, because a restore may have
// returned it to an earlier state.

// NeedsPermission reports whether a batch is due, but the catalog has not permitted the bucket to publish.
func (o *Outbox) NeedsPermission(now edm.Ticks) bool {
	return o.IsDue(now) && !o.confirmed && o.self.Table != ""
}

// AskPermission returns the bucket's own destination, for a question to the catalog. ok is false if the bucket asked a
// short time ago.
func (o *Outbox) AskPermission(t *turn.Turn) (self *message.Destination, ok bool) {
	if o.asksAt > t.Now && t.Resumed.Kind != turn.Instructs {
		return nil, false
	}
	o.asksAt = t.Now + 10*edm.TicksPerSecond
	return &o.self, true
}

// Permit records that the catalog permits the bucket to publish.
func (o *Outbox) Permit() { o.confirmed = true }
