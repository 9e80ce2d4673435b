package table_test

import (
	"errors"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// TestTraitsApply checks mutations of an entity under a rule of expiry: an entity that has expired counts as absent, and
// an Expire removes only an entity that stays hidden whatever happens to the rule.
func TestTraitsApply(t *testing.T) {
	t.Parallel()
	const written, end = declared - 9, declared + 5
	k := key.Append(nil, "p", "r")
	old := &table.Row{Key: k, Timestamp: written, Properties: edm.AppendProperty(properties("A", 1), "E", edm.DateTime(end))}
	rule := &table.Traits{Expiry: &table.Expiry{Property: "E", Since: declared}}
	early := &table.Traits{Expiry: &table.Expiry{Property: "E", Since: declared - 2*table.RemoveTime}}
	withdrawn := func(until edm.Ticks) *table.Traits {
		return &table.Traits{Ending: &table.Expiry{Property: "E", Since: declared, Until: until}}
	}
	insert := table.Mutation{Key: k, Condition: table.Absent, Properties: properties("B", 2)}
	merge := table.Mutation{Key: k, Kind: table.Merge, Properties: properties("B", 2)}
	expire := table.Mutation{Key: k, Kind: table.Expire, Condition: table.Unchanged, IfMatch: written}
	stale := expire
	stale.IfMatch--
	const inserted, removed = "B=2", "removed"
	merged := "A=1,B=2,E=" + edm.DateTime(end).String()
	for _, tt := range []struct {
		why    string
		traits *table.Traits
		m      table.Mutation
		now    edm.Ticks
		want   string
		err    error
	}{
		{"no traits, insert", nil, insert, end, "", table.ErrExists},
		{"no traits, merge", nil, merge, end, merged, nil},
		{"no traits, expire", nil, expire, end + table.RemoveTime, "", table.ErrChanged},
		{"no rule, insert", &table.Traits{}, insert, end, "", table.ErrExists},
		{"no rule, expire", &table.Traits{}, expire, end + table.RemoveTime, "", table.ErrChanged},
		{"before its end, insert", rule, insert, end - 1, "", table.ErrExists},
		{"before its end, merge", rule, merge, end - 1, merged, nil},
		{"at its end, insert", rule, insert, end, inserted, nil},
		{"at its end, merge", rule, merge, end, inserted, nil},
		{"young rule, expire", rule, expire, declared + table.RemoveTime - 1, "", table.ErrChanged},
		{"old rule, expire", rule, expire, declared + table.RemoveTime, removed, nil},
		{"old rule, expire another state", rule, stale, declared + table.RemoveTime, "", table.ErrChanged},
		{"old rule, expire before its end", early, expire, end - 1, "", table.ErrChanged},
		{"old rule, expire at its end", early, expire, end, removed, nil},
		{"withdrawn before its end, insert", withdrawn(end - 1), insert, end, "", table.ErrExists},
		{"withdrawn before its end, expire", withdrawn(end - 1), expire, end + table.RemoveTime, "", table.ErrChanged},
		{"withdrawn at its end, merge", withdrawn(end), merge, end + 1, inserted, nil},
		{"withdrawn at its end, expire", withdrawn(end), expire, end + 1, removed, nil},
		{"withdrawn when it was written with an earlier end, insert", &table.Traits{Ending: &table.Expiry{After: -1, Until: written}}, insert, end, inserted, nil},
		{"withdrawn before it was written with an earlier end, insert", &table.Traits{Ending: &table.Expiry{After: -1, Until: written - 1}}, insert, end, "", table.ErrExists},
		{"withdrawn before it was written, insert", withdrawn(written - 1), insert, end, "", table.ErrExists},
	} {
		effect, err := tt.traits.Apply(old, tt.m, tt.now)
		got := ""
		switch {
		case err != nil:
		case effect.Row == nil:
			got = removed
		default:
			got = show(effect.Row.Properties)
		}
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: got %q, %v, want %q, %v", tt.why, got, err, tt.want, tt.err)
		}
		if want := map[bool]edm.Ticks{true: end}[tt.want == removed]; effect.ExpiredAt != want {
			t.Errorf("%s: expired at %d, want %d", tt.why, int64(effect.ExpiredAt), int64(want))
		}
		if _, err := tt.traits.Apply(nil, tt.m, tt.now); (err == nil) != (tt.m.Kind != table.Expire) || err != nil && !errors.Is(err, table.ErrNoEntity) {
			t.Errorf("%s, without an entity: %v", tt.why, err)
		}
	}
}
