package dynamodb

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/adapters/store/dynamodb/internal/attribute"
	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/buckets"
	"edgetable/core/edm"
	"edgetable/core/odata"
	"edgetable/core/table"
)

// shown returns an attribute value in one word: its DynamoDB type and its text.
func shown(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return "S'" + v.Value + "'"
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberB:
		return fmt.Sprintf("X'%x'", v.Value)
	case *types.AttributeValueMemberBOOL:
		return fmt.Sprint(v.Value)
	case *types.AttributeValueMemberM:
		var list []string
		for _, k := range slices.Sorted(maps.Keys(v.Value)) {
			list = append(list, k+":"+shown(v.Value[k]))
		}
		return "{" + strings.Join(list, " ") + "}"
	}
	return fmt.Sprintf("%T", v)
}

// spelled returns an expression with its placeholders replaced by names and values.
func spelled(text string, names map[string]string, values item) string {
	var pairs []string
	for p, name := range names {
		pairs = append(pairs, p, name)
	}
	for p, v := range values {
		pairs = append(pairs, p, shown(v))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// TestScanPlans checks the exact Query for each filter: the planner's name for the key
// ranges, the sort keys, and the filter expression. The expression covers only a part of
// the filter; core code tests the rest. Every expression lets entities in chunks pass;
// the expected expressions below omit that part.
func TestScanPlans(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		filter, plan string
		keys, want   string
	}{
		{"Name eq 'Ada'", "Table", `.s >= "\x00"`, "Name=S'Ada'"},
		{"PartitionKey eq 'p'", "Partition", `.s BETWEEN "p" AND "p\x01"`, ""},
		{"PartitionKey eq 'p' and Name eq 'Ada'", "Partition", `.s BETWEEN "p" AND "p\x01"`, "Name=S'Ada'"},
		{"PartitionKey eq 'p' and RowKey ge 'a' and RowKey lt 'b'", "Rows", `.s BETWEEN "p\x00a" AND "p\x00b"`, ""},
		{"PartitionKey eq 'p' and RowKey eq 'a' and Active eq true", "Point", `.s BETWEEN "p\x00a" AND "p\x00a\x01"`, "Active=true"},
		{"PartitionKey gt 'p'", "Range", `.s >= "p\x01"`, ""},
		{"RowKey gt 'a'", "Table", `.s >= "\x00"`, ""}, // a filter expression cannot name a key
		{"RowKey gt 'a' and Active eq true", "Table", `.s >= "\x00"`, "Active=true"},
		{"RowKey gt 'a' or Active eq true", "Table", `.s >= "\x00"`, ""},

		{"Name ne 'Ada'", "Table", "", "(NOT (Name=S'Ada') AND attribute_exists(Name))"},
		{"Name gt 'Ada'", "Table", "", "Name>S'Ada' OR attribute_exists(Name.String)"},
		{"Name lt 'Ada'", "Table", "", "(NOT (Name>=S'Ada') AND attribute_exists(Name))"},
		// For characters above U+DFFF, the order of UTF-8 differs from that of UTF-16.
		{"Name gt '\uE000'", "Table", "", "attribute_type(Name,S'S') OR attribute_exists(Name.String)"},
		{"Active eq true", "Table", "", "Active=true"},
		{"not (Active eq true)", "Table", "", "NOT (Active=true)"},
		{"Photo eq X'0102'", "Table", "", "Photo=X'0102'"},
		{"ID eq guid'00000000-0000-0000-0000-000000000001'", "Table", "", "ID.Guid=S'00000000-0000-0000-0000-000000000001'"},
		// Numbers of all types compare with each other. A Double that is stored as text may
		// have any value, so the expression lets it pass.
		{"Age eq 36", "Table", "", "Age=36 OR Age.Int64=36 OR Age.Double=3.6E+01"},
		{"Age gt 36", "Table", "", "Age>36 OR Age.Int64>36 OR Age.Double>3.6E+01 OR attribute_type(Age.Double,S'S')"},
		{"Age eq 9007199254740993L", "Table", "", "Age.Int64=9007199254740993 OR attribute_exists(Age.Double)"},
		{"Score ge 1e300", "Table", "", "attribute_exists(Score.Double)"},
		// DateTimes are stored without trailing zeros, so their text is ordered by whole
		// seconds only.
		{"Born eq datetime'1815-12-10T00:00:00Z'", "Table", "", "Born.DateTime=S'1815-12-10T00:00:00Z'"},
		{"Born gt datetime'1815-12-10T00:00:00.5Z'", "Table", "", "Born.DateTime>=S'1815-12-10T00:00:00' OR attribute_type(Born.DateTime,S'N')"},
		{"Timestamp gt datetime'1601-01-01T00:00:00Z'", "Table", "", ".t>504911232000000000"},
		{"A eq 'x' and (B eq 'y' or C eq 'z')", "Table", "", "(A=S'x' AND (B=S'y' OR C=S'z'))"},
	} {
		f, err := odata.Parse(row.filter)
		if err != nil {
			t.Fatalf("%s: %v", row.filter, err)
		}
		plan := odata.MakePlan(f)
		s := tableSource{spread: rebucket.Spread{Buckets: 1}, filter: filtered.Translate(plan.Residual)}
		s.Store = offline()
		in := s.db.Input(s.query(0, plan.Ranges[0], buckets.Limit{Rows: 100}))
		if row.want != "" {
			row.want = "attribute_exists(.c) OR " + row.want
		}
		got := ""
		if in.FilterExpression != nil {
			got = spelled(*in.FilterExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
		}
		if plan.Kind != row.plan || got != row.want {
			t.Errorf("%s: %s, want %s\n got %s\nwant %s", row.filter, plan.Kind, row.plan, got, row.want)
		}
		keys := strings.NewReplacer("#p = :p AND ", "", "#s", ".s", ":s", quoted(in, ":s"), ":e", quoted(in, ":e")).Replace(*in.KeyConditionExpression)
		if row.keys != "" && keys != row.keys {
			t.Errorf("%s: keys %s, want %s", row.filter, keys, row.keys)
		}
	}
}

// offline returns a store that makes requests but cannot send them.
func offline() *Store {
	return &Store{db: call.New(call.Options{Client: dynamodb.New(dynamodb.Options{}), Name: "table"})}
}

func quoted(in *dynamodb.QueryInput, placeholder string) string {
	return strconv.Quote(string(attribute.Bytes(in.ExpressionAttributeValues[placeholder])))
}

// TestWritePlans checks the exact request for each mutation, both without a known state
// and on condition of a known state. The first column names the kind of request.
func TestWritePlans(t *testing.T) {
	t.Parallel()
	props := edm.AppendProperty(edm.AppendProperty(nil, "Name", edm.String("Ada")), "Age", edm.Int32(36))
	old := &stored{Row: table.Row{Key: []byte("k"), Timestamp: 7, Properties: edm.AppendProperty(nil, "Old", edm.Boolean(true))}}
	m := func(k table.Kind, c table.Condition) table.Mutation {
		m := table.Mutation{Key: []byte("k"), Kind: k, Condition: c, Nonce: 5}
		if k != table.Delete {
			m.Properties = props
		}
		if c == table.Unchanged {
			m.IfMatch = 7
		}
		return m
	}
	const merged = "SET .t=9,.o=5,.n=if_not_exists(.n,0)+2,.z=if_not_exists(.z,201)+43,Name=S'Ada',Age=36"
	const room = " AND .n<=250 AND .z<=389077"
	for _, row := range []struct {
		what, plan   string
		m            table.Mutation
		pinned       bool
		old          *stored
		if_, updates string
	}{
		{"insert", "Put", m(table.Put, table.Absent), false, nil, "attribute_not_exists(.p)", ""},
		{"upsert", "Put", m(table.Put, table.Always), false, nil, "attribute_not_exists(.p) OR .t<9 AND attribute_not_exists(.c)", ""},
		{"update *", "Put", m(table.Put, table.Present), false, nil, ".t<9 AND attribute_not_exists(.c)", ""},
		{"update", "Put", m(table.Put, table.Unchanged), false, nil, ".t<9 AND .t=7 AND attribute_not_exists(.c)", ""},
		{"insert as a merge", "Put", m(table.Merge, table.Absent), false, nil, "attribute_not_exists(.p)", ""},
		{"insert or merge", "Update", m(table.Merge, table.Always), false, nil, "attribute_not_exists(.p) OR .t<9 AND attribute_not_exists(.c)" + room, merged},
		{"merge *", "Update", m(table.Merge, table.Present), false, nil, ".t<9 AND attribute_not_exists(.c)" + room, merged},
		{"merge", "Update", m(table.Merge, table.Unchanged), false, nil, ".t<9 AND .t=7 AND attribute_not_exists(.c)" + room, merged},
		{"delete *", "Delete", m(table.Delete, table.Present), false, nil, ".t<9 AND attribute_not_exists(.c)", ""},
		{"delete", "Delete", m(table.Delete, table.Unchanged), false, nil, ".t<9 AND .t=7 AND attribute_not_exists(.c)", ""},
		{"a merge pinned to a state", "Put", m(table.Merge, table.Always), true, old, ".t=7", ""},
		{"a merge pinned to nothing", "Put", m(table.Merge, table.Always), true, nil, "attribute_not_exists(.p)", ""},
		{"a delete pinned to a state", "Delete", m(table.Delete, table.Present), true, old, ".t=7", ""},
	} {
		w := newWrite(offline(), rebucket.Spread{Buckets: 1}, nil, []table.Mutation{row.m})
		a := &w.actions[0]
		a.pinned, a.old = row.pinned, row.old
		if err := a.apply(nil, 9); err != nil {
			t.Fatalf("%s: %v", row.what, err)
		}
		plan, condition, updates := describeAction(w.request(a, 9))
		if plan != row.plan || condition != row.if_ || updates != row.updates {
			t.Errorf("%s: %s\n got if %s %s\nwant %s if %s %s", row.what, plan, condition, updates, row.plan, row.if_, row.updates)
		}
	}
}

func describeAction(a call.Action) (plan, condition, updates string) {
	switch {
	case a.Put != nil:
		return "Put", spelled(*a.Put.ConditionExpression, a.Put.ExpressionAttributeNames, a.Put.ExpressionAttributeValues), ""
	case a.Delete != nil:
		return "Delete", spelled(*a.Delete.ConditionExpression, a.Delete.ExpressionAttributeNames, a.Delete.ExpressionAttributeValues), ""
	}
	u := a.Update
	return "Update", spelled(*u.ConditionExpression, u.ExpressionAttributeNames, u.ExpressionAttributeValues),
		spelled(*u.UpdateExpression, u.ExpressionAttributeNames, u.ExpressionAttributeValues)
}

// TestValueCodec checks the attribute value in which each property value is stored.
func TestValueCodec(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		value edm.Value
		want  string
	}{
		{edm.String("Ada"), "S'Ada'"},
		{edm.String(""), "S''"},
		{edm.String("\xff"), "{String:X'ff'}"},
		{edm.Binary([]byte{1, 2}), "X'0102'"},
		{edm.Boolean(false), "false"},
		{edm.Int32(-36), "-36"},
		{edm.Int64(1 << 53), "{Int64:9007199254740992}"},
		{edm.Double(0.5), "{Double:5E-01}"},
		{edm.Double(1e126), "{Double:S'1E+126'}"},
		{edm.Guid([16]byte{15: 1}), "{Guid:S'00000000-0000-0000-0000-000000000001'}"},
		{edm.DateTime(edm.MinDateTime + 1), "{DateTime:S'1601-01-01T00:00:00.0000001Z'}"},
		{edm.DateTime(edm.MaxDateTime + 1), fmt.Sprintf("{DateTime:%d}", edm.MaxDateTime+1)},
	} {
		stored := attribute.Of(row.value)
		if got := shown(stored); got != row.want {
			t.Errorf("%s %q is stored as %s, want %s", row.value.Type(), row.value, got, row.want)
		}
		if back, err := attribute.Value(stored); err != nil || back != row.value {
			t.Errorf("%s %q is read as %s %q, %v", row.value.Type(), row.value, back.Type(), back, err)
		}
	}
}
