package table

import "edgetable/core/edm"

// Effect is everything that a mutation changes.
type Effect struct {
	Row *Row // new state of the entity, or nil if it was removed
	// ExpiredAt is the instant at which the removed entity expired. It is set only for an [Expire].
	ExpiredAt edm.Ticks
}

// Apply is the function [Apply] under the traits t: an entity that has expired at the Timestamp of the write counts as
// absent, and an [Expire] can be applied. old may have expired.
func (t *Traits) Apply(old *Row, m Mutation, now edm.Ticks) (Effect, error) {
	switch {
	case t == nil || old == nil:
	case m.Kind == Expire:
		if _, err := Apply(old, Mutation{Kind: Delete, Condition: m.Condition, IfMatch: m.IfMatch}, now); err != nil {
			return Effect{}, err
		}
		if t.removable(old, now) {
			return Effect{ExpiredAt: t.expiredAt(old, now)}, nil
		}
	case t.Ended(old, now):
		old = nil
	}
	row, err := Apply(old, m, now)
	return Effect{Row: row}, err
}
