package table_test

import (
	"testing"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// TestExpiresAt checks when an entity expires: at the DateTime in the rule's property or, without one, at an age.
func TestExpiresAt(t *testing.T) {
	t.Parallel()
	date := edm.AppendProperty(nil, "E", edm.DateTime(500))
	number := edm.AppendProperty(nil, "E", edm.Int64(500))
	for _, tt := range []struct {
		rule table.Expiry
		p    edm.Properties
		at   edm.Ticks
		ends bool
	}{
		{table.Expiry{Property: "E"}, date, 500, true},
		{table.Expiry{Property: "E", After: 7}, date, 500, true},
		{table.Expiry{Property: "F", After: 7}, date, 107, true},
		{table.Expiry{After: 7}, date, 107, true},
		{table.Expiry{Property: "E", After: 7}, number, 107, true},
		{table.Expiry{Property: "E"}, number, 0, false},
		{table.Expiry{Property: "F"}, date, 0, false},
	} {
		if at, ends := tt.rule.ExpiresAt(100, tt.p); ends != tt.ends || ends && at != tt.at {
			t.Errorf("%+v of %s: %d, %t", tt.rule, show(tt.p), int64(at), ends)
		}
	}
}

// TestTraitsEqual checks that traits are equal only if all their parts are, and that Encode keeps each difference.
func TestTraitsEqual(t *testing.T) {
	t.Parallel()
	all := []*table.Traits{
		nil,
		{},
		{Expiry: &table.Expiry{After: 1}},
		{Expiry: &table.Expiry{After: 2}},
		{Expiry: &table.Expiry{After: 1, Property: "E"}},
		{Expiry: &table.Expiry{After: 1, Since: 1}},
		{Ending: &table.Expiry{After: 1}},
		{Ending: &table.Expiry{After: 1, Until: 1}},
		{Feed: &table.Feed{}},
		{Feed: &table.Feed{Keep: 1}},
		{Expiry: &table.Expiry{After: 1}, Feed: &table.Feed{Keep: 1}},
		{Expiry: &table.Expiry{After: 1}, Ending: &table.Expiry{After: 1}},
	}
	for i, a := range all {
		for j, b := range all {
			if got := a.Equal(b); got != (i == j) {
				t.Errorf("%+v and %+v: %t", a, b, got)
			}
			if b == nil {
				continue
			}
			if c, err := table.ParseTraits(b.Encode()); err != nil || a.Equal(c) != (i == j) {
				t.Errorf("%+v and %+v, which was encoded: %+v, %v", a, b, c, err)
			}
		}
	}
}
