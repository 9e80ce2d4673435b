package table

import (
	"context"

	"edgetable/core/edm"
)

// TableOptions are the options that the owner of a table can declare.
type TableOptions struct {
	// Expire is the rule of expiry, or nil for no rule. Its fields Since and Until are ignored.
	Expire *Expiry
	// Changes is the configuration of the table's change feed, or nil for no feed.
	Changes *Feed
}

// declare returns new traits for the options o, declared at the time now, based on the old traits t. An unchanged
// option keeps its state, such as Since. Errors are of type *[Error].
func (t *Traits) declare(o TableOptions, now edm.Ticks) (*Traits, error) {
	var next Traits
	if t != nil {
		next = *t
	}
	next.Feed = o.Changes
	old := next.Expiry
	if o.Expire == nil && old == nil || o.Expire != nil && old != nil && o.Expire.Property == old.Property && o.Expire.After == old.After {
		if t != nil && t.Feed.equal(next.Feed) {
			return t, nil
		}
		return next.orNil(), nil
	}
	if next.isPastUndoTime(now) {
		if next.Ending != nil {
			return nil, OptionsBusy.Err()
		}
		ended := *old
		ended.Until = now
		next.Ending = &ended
	}
	if next.Expiry = nil; o.Expire != nil {
		next.Expiry = &Expiry{Property: o.Expire.Property, After: o.Expire.After, Since: now}
	}
	return next.orNil(), nil
}

// orNil returns the traits, or nil if they declare no option.
func (t *Traits) orNil() *Traits {
	if *t == (Traits{}) {
		return nil
	}
	return t
}

// canKeep returns an error unless the store supports all of the options.
func (s *Service) canKeep(o TableOptions) error {
	refuse := func(part string) error {
		return OptionsInvalid.With(OptionsInvalid.Err().Message + " $." + part + ": " + s.home() + " does not support this option yet. Omit it.")
	}
	if o.Expire != nil {
		d, ok := As[Declaring](s.store)
		expiry := false
		if ok {
			_, expiry = d.Declares()
		}
		if !expiry {
			return refuse("expire")
		}
	}
	if _, ok := As[Feeding](s.store); !ok && o.Changes != nil {
		return refuse("changes")
	}
	return nil
}

// TableTraits returns the traits of a table, and the revision of the table's record. The traits are nil if the table
// declares no options.
func (s *Service) TableTraits(ctx context.Context, n Name) (*Traits, Revision, error) {
	if err := n.check(); err != nil {
		return nil, "", err
	}
	r, err := s.table(ctx, n)
	return r.Traits, r.Revision, err
}

// SetTableOptions replaces the options of a table. It fails with ConditionNotMet if match is set and is not the
// record's revision, and with OptionsInvalid for an unsupported option.
func (s *Service) SetTableOptions(ctx context.Context, n Name, match Revision, o TableOptions) error {
	if err := n.check(); err != nil {
		return err
	}
	if err := s.canKeep(o); err != nil {
		return err
	}
	return s.updateRecord(ctx, n.Key(), func(r *Record) (err error) {
		switch {
		case r.Revision == "":
			return TableNotFound.Err()
		case match != "" && r.Revision != match:
			return ConditionNotMet.Err()
		}
		old := r.Traits
		if r.Traits, err = old.declare(o, s.now()); err == nil && r.Traits == old {
			return errUnchanged
		}
		return err
	})
}
