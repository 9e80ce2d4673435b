package table_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// properties returns Int32 properties. Its arguments are alternately a name and a value.
func properties(list ...any) edm.Properties {
	var p edm.Properties
	for i := 0; i < len(list); i += 2 {
		p = edm.AppendProperty(p, list[i].(string), edm.Int32(int32(list[i+1].(int))))
	}
	return p
}

func show(p edm.Properties) string {
	var list []string
	for name, v := range p.All() {
		list = append(list, name+"="+v.String())
	}
	return strings.Join(list, ",")
}

// TestApply applies each kind of mutation under each condition, with and without an existing
// entity.
func TestApply(t *testing.T) {
	t.Parallel()
	const now, stamp, otherStamp = 300, 100, 200
	k := key.Append(nil, "p", "r")
	old := &table.Row{Key: k, Timestamp: stamp, Nonce: 7, Properties: properties("A", 1, "B", 2)}
	const (
		gone    = "gone"
		replace = "B=3,C=4"
		merge   = "A=1,B=3,C=4"
	)
	for _, tt := range []struct {
		kind      table.Kind
		condition table.Condition
		ifMatch   edm.Ticks
		absent    string // the result if there is no entity
		err       error  // the error if there is no entity
		present   string // the result if the entity exists
		presErr   error
	}{
		{kind: table.Put, condition: table.Always, absent: replace, present: replace},
		{kind: table.Put, condition: table.Absent, absent: replace, presErr: table.ErrExists},
		{kind: table.Put, condition: table.Present, err: table.ErrNoEntity, present: replace},
		{kind: table.Put, condition: table.Unchanged, ifMatch: stamp, err: table.ErrNoEntity, present: replace},
		{kind: table.Put, condition: table.Unchanged, ifMatch: otherStamp, err: table.ErrNoEntity, presErr: table.ErrChanged},
		{kind: table.Merge, condition: table.Always, absent: replace, present: merge},
		{kind: table.Merge, condition: table.Absent, absent: replace, presErr: table.ErrExists},
		{kind: table.Merge, condition: table.Present, err: table.ErrNoEntity, present: merge},
		{kind: table.Merge, condition: table.Unchanged, ifMatch: stamp, err: table.ErrNoEntity, present: merge},
		{kind: table.Merge, condition: table.Unchanged, ifMatch: otherStamp, err: table.ErrNoEntity, presErr: table.ErrChanged},
		{kind: table.Delete, condition: table.Always, absent: gone, present: gone},
		{kind: table.Delete, condition: table.Absent, absent: gone, presErr: table.ErrExists},
		{kind: table.Delete, condition: table.Present, err: table.ErrNoEntity, present: gone},
		{kind: table.Delete, condition: table.Unchanged, ifMatch: stamp, err: table.ErrNoEntity, present: gone},
		{kind: table.Delete, condition: table.Unchanged, ifMatch: otherStamp, err: table.ErrNoEntity, presErr: table.ErrChanged},
	} {
		m := table.Mutation{Key: k, Kind: tt.kind, Condition: tt.condition, IfMatch: tt.ifMatch, Properties: properties("B", 3, "C", 4), Nonce: 9}
		for _, found := range []struct {
			what string
			old  *table.Row
			want string
			err  error
		}{{"no entity", nil, tt.absent, tt.err}, {"an entity", old, tt.present, tt.presErr}} {
			row, err := table.Apply(found.old, m, now)
			got := gone
			switch {
			case err != nil:
				got = ""
			case row != nil:
				got = show(row.Properties)
				if row.Timestamp != now || row.Nonce != 9 || string(row.Key) != string(k) {
					t.Errorf("kind %d condition %d of %s: row %+v", tt.kind, tt.condition, found.what, row)
				}
			}
			if got != found.want || !errors.Is(err, found.err) {
				t.Errorf("kind %d condition %d (%d) of %s: got %q, %v, want %q, %v", tt.kind, tt.condition, tt.ifMatch, found.what, got, err, found.want, found.err)
			}
		}
	}
	if show(old.Properties) != "A=1,B=2" || old.Timestamp != stamp {
		t.Errorf("the old row was changed: %+v", old)
	}
}

// TestApplyJudgesTheMerge checks that the result of a merge must not exceed the limits of an
// entity.
func TestApplyJudgesTheMerge(t *testing.T) {
	t.Parallel()
	k := key.Append(nil, "p", "r")
	var many edm.Properties
	for i := range table.MaxProperties {
		many = edm.AppendProperty(many, "P"+edm.Int32(int32(i)).String(), edm.Int32(1))
	}
	big := edm.AppendProperty(nil, "S", edm.String(strings.Repeat("a", 500_000)))
	half := edm.AppendProperty(nil, "T", edm.String(strings.Repeat("a", 30_000)))
	for _, tt := range []struct {
		why        string
		old, patch edm.Properties
		want       table.Code
	}{
		{"252 and one of them", many, properties("P7", 2), ""},
		{"252 and another", many, properties("Q", 2), table.TooManyProperties},
		{"just below 1 MiB", big, edm.AppendProperty(nil, "T", edm.String(strings.Repeat("a", 20_000))), ""},
		{"above 1 MiB", big, half, table.EntityTooLarge},
		{"a large value replaced by a small one", big, edm.AppendProperty(nil, "S", edm.String("small")), ""},
	} {
		_, err := table.Apply(&table.Row{Key: k, Properties: tt.old},
			table.Mutation{Key: k, Kind: table.Merge, Properties: slices.Clone(tt.patch)}, 1)
		if got := code(t, err); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.why, got, tt.want)
		}
	}
}
