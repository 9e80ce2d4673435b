package dynamodb_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"edgetable/adapters/store/dynamodb"
	"edgetable/adapters/store/dynamodb/internal/attribute"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// corners returns special values of all types. They include Doubles of every decade, and
// values that a DynamoDB number cannot represent.
func corners() []edm.Value {
	list := []edm.Value{
		edm.String(""), edm.String("\x00"), edm.String("\xff\xfe not UTF-8"), edm.String("\U0001F600\u2028"),
		edm.String("NaN"), edm.String("5"), edm.Binary(nil), edm.Binary([]byte{}), edm.Binary([]byte{0}),
		edm.Boolean(true), edm.Boolean(false),
		edm.Int32(0), edm.Int32(math.MinInt32), edm.Int32(math.MaxInt32),
		edm.Int64(0), edm.Int64(math.MinInt64), edm.Int64(math.MaxInt64), edm.Int64(1 << 53), edm.Int64(-1<<53 - 1),
		edm.DateTime(edm.MinDateTime), edm.DateTime(edm.MaxDateTime), edm.DateTime(edm.MinDateTime + 1),
		edm.DateTime(edm.MinDateTime - 1), edm.DateTime(edm.MaxDateTime + 1), edm.DateTime(math.MinInt64), edm.DateTime(math.MaxInt64),
		edm.Guid([16]byte{}), edm.Guid([16]byte{0: 1, 15: 0xff}),
		edm.Double(math.Float64frombits(0x7ff8000000000000)), edm.Double(math.Float64frombits(0xfff8000000000001)),
		edm.Double(math.Float64frombits(0x7ff0000000000001)), // a signalling NaN
	}
	for _, f := range []float64{
		0, math.NaN(), math.Inf(1), math.MaxFloat64, math.SmallestNonzeroFloat64, 2.2250738585072014e-308,
		1e-130, 9.999999999999999e-131, 1.0000000000000001e-130, 9.99e125, 9.999999999999999e125, 1e126,
		0.1, 1.0 / 3, 5, 1e15, 123456789012345680, math.Pi, math.Nextafter(1, 2),
	} {
		list = append(list, edm.Double(f), edm.Double(-f))
	}
	for e := -324; e <= 308; e++ {
		f, _ := strconv.ParseFloat("1.2345678901234567E"+strconv.Itoa(e), 64)
		list = append(list, edm.Double(f))
	}
	return list
}

// random returns a random value of a random type.
func random(rnd *rand.Rand) edm.Value {
	b := make([]byte, rnd.IntN(20))
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	switch rnd.IntN(8) {
	case 0:
		return edm.Binary(b)
	case 1:
		return edm.Boolean(rnd.IntN(2) == 0)
	case 2:
		return edm.DateTime(edm.MinDateTime + edm.Ticks(rnd.Int64N(int64(edm.MaxDateTime-edm.MinDateTime))))
	case 3:
		return edm.Double(math.Float64frombits(rnd.Uint64()))
	case 4:
		return edm.Guid([16]byte(append(b, make([]byte, 16)...)[:16]))
	case 5:
		return edm.Int32(int32(rnd.Uint32()))
	case 6:
		return edm.Int64(int64(rnd.Uint64()))
	}
	return edm.String(strings.ToValidUTF8(string(b), "\ufffd"))
}

// TestValues checks that every value is read back to the bit, both from its stored form
// and from DynamoDB, which formats numbers in its own way.
func TestValues(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	values := corners()
	for range 2000 {
		values = append(values, random(rnd))
	}
	for _, v := range values {
		got, err := attribute.Value(attribute.Of(v))
		if err != nil || got != v {
			t.Errorf("%s %q: read as %s %q, %v", v.Type(), v, got.Type(), got, err)
		}
	}
	s := open(t, dynamodb.Options{Table: newTable(t)})
	create(t, s)
	for n := 0; len(values) > 0; n++ {
		var p edm.Properties
		now := values[:min(table.MaxProperties, len(values))]
		values = values[len(now):]
		for i, v := range now {
			p = edm.AppendProperty(p, "P"+strconv.Itoa(i), v)
		}
		k := key.Append(nil, "p", strconv.Itoa(n))
		if _, err := s.Commit(t.Context(), people, []table.Mutation{{Key: k, Properties: p}}); err != nil {
			t.Fatal(err)
		}
		row, err := s.Get(t.Context(), people, k, table.Strong)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range now {
			if got, _ := row.Properties.Lookup("P" + strconv.Itoa(i)); got != v {
				t.Errorf("%s %q: DynamoDB gave back %s %q", v.Type(), v, got.Type(), got)
			}
		}
	}
}

// TestItems checks the attributes of an item, as an operator sees them in the AWS
// console. It also checks property names that resemble the names of the store's
// attributes.
func TestItems(t *testing.T) {
	t.Parallel()
	name := newTable(t)
	s := open(t, dynamodb.Options{Table: name})
	create(t, s)
	var p edm.Properties
	for _, one := range []struct {
		name  string
		value edm.Value
	}{
		{"Name", edm.String("Ada")},
		{"Photo", edm.Binary([]byte{1, 2})},
		{"Active", edm.Boolean(true)},
		{"Age", edm.Int32(36)},
		{"Visits", edm.Int64(12)},
		{"Score", edm.Double(0.5)},
		{"Odd", edm.Double(math.NaN())},
		{"Born", edm.DateTime(edm.MinDateTime + 1)},
		{"ID", edm.Guid([16]byte{15: 1})},
		{"p", edm.String("a property, not the hash key")},
		{"s", edm.Int32(1)}, {"t", edm.Int32(2)}, {"n", edm.Int32(3)}, {"pk", edm.Int32(4)},
	} {
		p = edm.AppendProperty(p, one.name, one.value)
	}
	k := key.Append(nil, "engines", "ada")
	if _, err := s.Commit(t.Context(), people, []table.Mutation{{Key: k, Properties: p}}); err != nil {
		t.Fatal(err)
	}
	out, err := newClient(nil).Scan(t.Context(), &sdk.ScanInput{
		TableName:                aws.String(name),
		FilterExpression:         aws.String("attribute_exists(#a)"),
		ExpressionAttributeNames: map[string]string{"#a": "Age"},
	})
	if err != nil || len(out.Items) != 1 {
		t.Fatalf("%d items, %v", len(out.Items), err)
	}
	got := out.Items[0]
	for _, varies := range []string{".p", ".t", ".o", ".n", ".z"} {
		if _, ok := got[varies]; !ok {
			t.Errorf("no attribute %s", varies)
		}
		delete(got, varies)
	}
	n := func(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }
	text := func(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
	typed := func(name string, v types.AttributeValue) types.AttributeValue {
		return &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{name: v}}
	}
	want := map[string]types.AttributeValue{
		".s":     &types.AttributeValueMemberB{Value: k},
		"Name":   text("Ada"),
		"Photo":  &types.AttributeValueMemberB{Value: []byte{1, 2}},
		"Active": &types.AttributeValueMemberBOOL{Value: true},
		"Age":    n("36"),
		"Visits": typed("Int64", n("12")),
		"Score":  typed("Double", n("0.5")),
		"Odd":    typed("Double", text("NaN")),
		"Born":   typed("DateTime", text("1601-01-01T00:00:00.0000001Z")),
		"ID":     typed("Guid", text("00000000-0000-0000-0000-000000000001")),
		"p":      text("a property, not the hash key"),
		"s":      n("1"), "t": n("2"), "n": n("3"), "pk": n("4"),
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(sameAttribute)); diff != "" {
		t.Errorf("the item (-want +got):\n%s", diff)
	}
	row, err := s.Get(t.Context(), people, k, table.Strong)
	if err != nil || row.Properties.Count() != p.Count() {
		t.Errorf("Get: %d properties, %v", row.Properties.Count(), err)
	}
	for name, v := range p.All() {
		if got, _ := row.Properties.Lookup(name); got != v {
			t.Errorf("%s: got %s %q", name, got.Type(), got)
		}
	}
}

func sameAttribute(a, b types.AttributeValue) bool {
	v, err := attribute.Value(a)
	w, err2 := attribute.Value(b)
	return v == w && err == nil && err2 == nil
}
