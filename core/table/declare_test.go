package table_test

import (
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/testdata/memstore"
)

// plain is a store that supports no options, but has a name.
type plain struct{ table.Store }

func (plain) Declares() (name string, expiry bool) { return "Plain", false }

// TestOptionsNeedAStore checks that an option is refused, with its name and the name of the store, unless the store
// supports it. No options are always accepted.
func TestOptionsNeedAStore(t *testing.T) {
	t.Parallel()
	now := func() edm.Ticks { return 1000 }
	expire := table.TableOptions{Expire: &table.Expiry{After: 1}}
	changes := table.TableOptions{Changes: &table.Feed{Keep: 1}}
	for _, tt := range []struct {
		why   string
		store table.Store
		o     table.TableOptions
		want  string // the end of the message
	}{
		{"expiry", memstore.New(now), expire, ""},
		{"changes", memstore.New(now), changes, ""},
		{"expiry without a name", sealed{memstore.New(now)}, expire, " $.expire: the store of this server does not support this option yet. Omit it."},
		{"changes without a name", sealed{memstore.New(now)}, changes, " $.changes: the store of this server does not support this option yet. Omit it."},
		{"expiry with a name", plain{memstore.New(now)}, expire, " $.expire: Plain does not support this option yet. Omit it."},
		{"changes with a name", plain{memstore.New(now)}, changes, " $.changes: Plain does not support this option yet. Omit it."},
		{"no options", plain{memstore.New(now)}, table.TableOptions{}, ""},
	} {
		s := newServiceOver(t, tt.store, now, table.Options{})
		err := s.SetTableOptions(t.Context(), people, "", tt.o)
		if tt.want == "" {
			expect(t, tt.why, err, "")
		} else if expect(t, tt.why, err, "OptionsInvalid"); !strings.HasSuffix(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.why, err)
		}
		traits, _, err := s.TableTraits(t.Context(), people)
		if none := tt.o == (table.TableOptions{}) || tt.want != ""; err != nil || (traits == nil) != none {
			t.Errorf("%s: traits %+v, %v", tt.why, traits, err)
		}
	}
}

// TestSetTableOptions checks the condition of a change of options, and that a change to the same options writes nothing.
func TestSetTableOptions(t *testing.T) {
	t.Parallel()
	s := newService(t, table.Options{})
	option := func(property string, after, keep edm.Ticks) (o table.TableOptions) {
		if property != "" || after != 0 {
			o.Expire = &table.Expiry{Property: property, After: after, Since: 5, Until: 6} // Since and Until are ignored
		}
		if keep != 0 {
			o.Changes = &table.Feed{Keep: keep}
		}
		return o
	}
	revision := func() table.Revision {
		_, r, err := s.TableTraits(t.Context(), people)
		if err != nil || r == "" {
			t.Fatalf("revision %q, %v", r, err)
		}
		return r
	}
	for _, n := range []struct{ name, want string }{{"a_b", "InvalidResourceName"}, {"none", "TableNotFound"}} {
		_, _, err := s.TableTraits(t.Context(), table.Name{Account: "acct", Table: n.name})
		expect(t, n.name, err, n.want)
		expect(t, n.name, s.SetTableOptions(t.Context(), table.Name{Account: "acct", Table: n.name}, "", option("E", 0, 0)), n.want)
	}
	first := revision()
	for _, tt := range []struct {
		why     string
		o       table.TableOptions
		changes bool
	}{
		{"none before and after", option("", 0, 0), false},
		{"a feed", option("", 0, 7), true},
		{"the same feed", option("", 0, 7), false},
		{"another feed", option("", 0, 8), true},
		{"a rule too", option("E", 9, 8), true},
		{"the same two", option("E", 9, 8), false},
		{"the same rule without the feed", option("E", 9, 0), true},
		{"the same rule", option("E", 9, 0), false},
		{"another property", option("F", 9, 0), true},
		{"another age", option("F", 8, 0), true},
		{"none", option("", 0, 0), true},
		{"none again", option("", 0, 0), false},
	} {
		before := revision()
		if err := s.SetTableOptions(t.Context(), people, before, tt.o); err != nil {
			t.Fatal(err)
		}
		if changed := revision() != before; changed != tt.changes {
			t.Errorf("%s: written %t", tt.why, changed)
		}
		traits, _, _ := s.TableTraits(t.Context(), people)
		var got table.TableOptions
		if traits != nil {
			got.Expire, got.Changes = traits.Expiry, traits.Feed
		}
		want := tt.o
		if want.Expire != nil {
			want.Expire = &table.Expiry{Property: want.Expire.Property, After: want.Expire.After, Since: 1000}
		}
		if !(&table.Traits{Expiry: got.Expire, Feed: got.Changes}).Equal(&table.Traits{Expiry: want.Expire, Feed: want.Changes}) || traits != nil && traits.Ending != nil {
			t.Errorf("%s: traits %+v", tt.why, traits)
		}
		if traits != nil && *traits == (table.Traits{}) {
			t.Errorf("%s: traits that declare nothing", tt.why)
		}
	}
	expect(t, "an earlier revision", s.SetTableOptions(t.Context(), people, first, option("G", 0, 0)), "ConditionNotMet")
	expect(t, "an earlier revision, no change", s.SetTableOptions(t.Context(), people, first, option("", 0, 0)), "ConditionNotMet")
}

// TestWithdrawnRule checks what remains of a withdrawn rule: nothing within UndoTime, so that the entities that it hid
// are visible again. Later, the rule still applies to the entities that had expired, and no second rule can be withdrawn.
func TestWithdrawnRule(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		age     edm.Ticks
		rule    *table.Expiry // the rule that follows
		visible int
		again   string // the result of another change of the rule, after more than UndoTime
	}{
		{table.UndoTime - 1, nil, 2, ""},
		{table.UndoTime, nil, 1, ""},
		{table.UndoTime - 1, &table.Expiry{Property: "F"}, 2, ""},
		{table.UndoTime, &table.Expiry{Property: "F"}, 1, "OptionsBusy"},
	} {
		e := newExpiring(t, table.Options{})
		e.put("p", "expired", declared)
		e.put("p", "later", declared+table.RemoveTime)
		e.now = declared + tt.age
		e.declare(tt.rule)
		ending := tt.age >= table.UndoTime
		if traits, _, err := e.TableTraits(t.Context(), people); err != nil || e.isEnding() != ending || ending && (traits.Ending.Until != e.now || traits.Ending.Property != "E") {
			t.Errorf("age %d: traits %+v, %v", tt.age, traits, err)
		}
		e.now += 2 * table.RemoveTime
		if page, err := e.Query(t.Context(), people, table.Query{Top: 10}); err != nil || len(page.Rows) != tt.visible {
			t.Errorf("age %d, then the rule %+v: %d rows, %v, want %d", tt.age, tt.rule, len(page.Rows), err, tt.visible)
		}
		err := e.SetTableOptions(t.Context(), people, "", table.TableOptions{Expire: &table.Expiry{Property: "G"}})
		expect(t, "another rule", err, tt.again)
		if traits, _, err := e.TableTraits(t.Context(), people); err != nil || (traits.Expiry.Property == "G") != (tt.again == "") {
			t.Errorf("age %d: traits %+v, %v", tt.age, traits, err)
		}
	}
}
