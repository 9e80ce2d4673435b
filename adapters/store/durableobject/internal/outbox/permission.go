package outbox

import (
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
)

// A restore may have returned an object to an earlier state. So a bucket that just woke up publishes only after the catalog permits it.

// NeedsPermission reports whether a batch is due that the bucket must not send yet, because the catalog has not permitted it.
func (o *Outbox) NeedsPermission(now edm.Ticks) bool {
	return o.IsDue(now) && !o.confirmed && o.self.Table != ""
}

// AskPermission returns the bucket's own destination, for a question to the catalog. If the bucket asked a short time ago and got no permission, ok is
// false.
func (o *Outbox) AskPermission(t *turn.Turn) (self *message.Destination, ok bool) {
	if o.asksAt > t.Now && t.Resumed.Kind != turn.Instructs {
		return nil, false
	}
	o.asksAt = t.Now + 10*edm.TicksPerSecond
	return &o.self, true
}

// Permit records that the catalog permits the bucket to publish.
func (o *Outbox) Permit() { o.confirmed = true }
