package table

import "edgetable/core/edm"

// Effect is everything that a mutation changes.
type Effect struct {
	Row *Row // the new state of the entity; nil means that the entity is removed
	// Ended is set only for an [Expire]. It is the instant at which the removed entity expired.
	Ended edm.Ticks
}

// Apply applies a mutation as the function [Apply] does, and also obeys the rules of expiry in the
// traits: an entity that has expired at the Timestamp of the write counts as absent. Unlike the
// function, it also applies an [Expire]. old is the stored entity, even if that has expired.
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
