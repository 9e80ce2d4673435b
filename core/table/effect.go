package table

import "edgetable/core/edm"

// Effect is everything that one write changes.
type Effect struct {
	Row *Row // the new state of the entity; nil: it was removed
	// Ended is set for an [Expire]: it is the instant at which the removed entity ended (expired).
	Ended edm.Ticks
}

// Apply applies a mutation as the function [Apply] does, but also by the rule of expiry in the
// traits: an entity that has ended at the Timestamp of the write counts as absent. It also
// applies an [Expire]. old is the entity as it is stored, even if it has ended.
func (t *Traits) Apply(old *Row, m Mutation, now edm.Ticks) (Effect, error) {
	switch {
	case t == nil || old == nil:
	case m.Kind == Expire:
		if _, err := Apply(old, Mutation{Kind: Delete, Condition: m.Condition, IfMatch: m.IfMatch}, now); err != nil {
			return Effect{}, err
		}
		if t.removable(old, now) {
			return Effect{Ended: t.endedAt(old, now)}, nil
		}
	case t.Ended(old, now):
		old = nil
	}
	row, err := Apply(old, m, now)
	return Effect{Row: row}, err
}
