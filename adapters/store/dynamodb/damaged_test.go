package dynamodb_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// TestDamagedItems checks that a damaged item in the DynamoDB table causes an error. The
// item must not cause a panic, a large allocation, or an entity that lacks properties.
func TestDamagedItems(t *testing.T) {
	t.Parallel()
	name := newTable(t)
	s := open(t, dynamodb.Options{Table: name, Buckets: 1})
	create(t, s)
	client := newClient(nil)
	for _, m := range []table.Mutation{upsert("small", edm.AppendProperty(nil, "A", edm.Int32(1))), upsert("large", large(900_000))} {
		if _, err := s.Commit(t.Context(), people, []table.Mutation{m}); err != nil {
			t.Fatal(err)
		}
	}
	whole := map[string]map[string]types.AttributeValue{}
	out, err := client.Scan(t.Context(), &sdk.ScanInput{TableName: &name})
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range out.Items {
		switch sort := string(it[".s"].(*types.AttributeValueMemberB).Value); {
		case strings.HasPrefix(sort, "p\x00"):
			whole[sort[2:]] = it
		case it[".d"] != nil:
			whole["chunk"] = it
		}
	}
	n := func(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }
	b := func(v string) types.AttributeValue { return &types.AttributeValueMemberB{Value: []byte(v)} }
	text := func(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
	m := func(pairs ...any) types.AttributeValue {
		v := map[string]types.AttributeValue{}
		for i := 0; i < len(pairs); i += 2 {
			v[pairs[i].(string)] = pairs[i+1].(types.AttributeValue)
		}
		return &types.AttributeValueMemberM{Value: v}
	}
	version := string(whole["large"][".c"].(*types.AttributeValueMemberB).Value)
	data := string(whole["chunk"][".d"].(*types.AttributeValueMemberB).Value)
	for _, x := range []struct {
		item, attribute string
		value           types.AttributeValue // if nil, the test removes the attribute
		why             string
	}{
		{"small", ".b", n("1"), "an attribute of a newer version"},
		{"small", ".tt", n("1"), "an attribute of a newer version"},
		{"large", ".b", n("1"), "an attribute of a newer version"},
		{"small", "A", n("2147483648"), "beyond Int32"},
		{"small", "A", n("1.5"), "no Int32"},
		{"small", "A", n("1E100"), "a number DynamoDB takes"},
		{"small", "A", &types.AttributeValueMemberNULL{Value: true}, "a type that no property has"},
		{"small", "A", &types.AttributeValueMemberL{Value: []types.AttributeValue{n("1")}}, "a list"},
		{"small", "A", &types.AttributeValueMemberSS{Value: []string{"a"}}, "a set"},
		{"small", "A", m(), "a map of nothing"},
		{"small", "A", m("Int64", n("1"), "Double", n("2")), "a map of two values: which of them?"},
		{"small", "A", m("Int64", text("1")), "another type than the tag's"},
		{"small", "A", m("Int64", n("9223372036854775808")), "beyond Int64"},
		{"small", "A", m("Double", text("much")), "no Double"},
		{"small", "A", m("Double", b("not hexadecimal")), "no NaN"},
		{"small", "A", m("DateTime", text("0000-00-00T99:99:99Z")), "no date"},
		{"small", "A", m("Guid", text("00000000-0000-0000-0000-00000000000")), "a digit short"},
		{"small", "A", m("Decimal", n("1")), "a tag of nobody's"},
		{"small", ".t", text("now"), "a Timestamp that is no number"},
		{"small", ".t", n("1E30"), "a Timestamp beyond all time"},
		{"small", ".t", n("9223372036854775807"), "a Timestamp that no year has"},
		{"small", ".t", n("-1"), "a Timestamp before the first year"},
		{"small", ".t", nil, "no Timestamp"},
		{"small", ".o", n("-1"), "a nonce below 0"},
		{"small", ".c", n("1"), "chunks of another type"},
		{"small", ".c", b("short"), "chunks of another length"},
		{"small", ".c", b(version[:16] + "\x00" + version[17:]), "no chunks"},
		{"large", ".c", b(version[:17] + "\xff\xff\xff\xff"), "4 GiB in chunks, for which there is no memory"},
		{"large", ".c", b(version[:16] + "\x01" + version[17:]), "a chunk of several, cut in the middle of a property"},
		{"large", ".c", b(version[:17] + "\x00\x00\x00\x01"), "more in chunks than the entity says"},
		{"chunk", ".d", b(strings.Repeat("\xff", len(data))), "a chunk with other bytes"},
		{"chunk", ".d", b(data[:len(data)-1]), "a chunk that lacks a byte"},
		{"chunk", ".d", text(data[:0]), "a chunk of another type"},
	} {
		it := map[string]types.AttributeValue{}
		for attribute, v := range whole[x.item] {
			it[attribute] = v
		}
		if it[x.attribute] = x.value; x.value == nil {
			delete(it, x.attribute)
		}
		put := func(it map[string]types.AttributeValue) {
			if _, err := client.PutItem(t.Context(), &sdk.PutItemInput{TableName: aws.String(name), Item: it}); err != nil {
				t.Fatalf("%s: %v", x.why, err)
			}
		}
		put(it)
		row := x.item
		if row == "chunk" {
			row = "large"
		}
		if err := get(t, s, row); err == nil || errors.Is(err, table.ErrNoEntity) {
			t.Errorf("%s: Get: %v", x.why, err)
		}
		if page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: everything}); err == nil {
			t.Errorf("%s: Scan: %d rows, no error", x.why, len(page.Rows))
		}
		put(whole[x.item])
		if err := get(t, s, row); err != nil {
			t.Fatalf("%s: repaired: %v", x.why, err)
		}
	}
}
