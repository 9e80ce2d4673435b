package call

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/core/table"
)

// TestInput checks the exact API call for each query. The first column names the scan
// plan.
func TestInput(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("k"), MaxSort+1)
	filter := &Filter{Text: "#00=:00", Names: map[string]string{"#00": "A"}, Values: Item{":00": number("1")}}
	for _, row := range []struct {
		plan string
		q    Query
		want string
	}{
		{"bucket", Query{First: []byte{0}, Rows: 1000},
			"#p = :p AND #s >= :s | :p:s | #p#s | strong | 1000"},
		{"range", Query{First: []byte("a"), Last: []byte("b"), Rows: 10, Consistency: table.Eventual},
			"#p = :p AND #s BETWEEN :s AND :e | :e:p:s | #p#s | eventual | 10"},
		{"keys", Query{First: []byte("a"), Rows: 5, Projection: NewProjection(".t", ".s")},
			"#p = :p AND #s >= :s | :p:s | #p#s#t | strong | 5 | only #t,#s"},
		{"filter", Query{First: []byte("a"), Rows: 5, Filter: filter},
			"#p = :p AND #s >= :s | :00:p:s | #00#p#s | strong | 5 | filter #00=:00, TOTAL"},
		{"behind", Query{First: long, Rows: 5},
			"#p = :p AND #s >= :s | :p:s | #p#s | strong | 5 | after 1024 bytes"},
		{"range", Query{First: []byte("a"), Last: long, Rows: 5},
			"#p = :p AND #s BETWEEN :s AND :e | :e:p:s | #p#s | strong | 5"},
		{"descending", Query{First: []byte("a"), Last: []byte("b"), Rows: 5, Descending: true},
			"#p = :p AND #s BETWEEN :s AND :e | :e:p:s | #p#s | strong | 5 | back | after 1 bytes"},
		{"descending from the end", Query{First: long, Rows: 5, Descending: true},
			"#p = :p AND #s >= :s | :p:s | #p#s | strong | 5 | back"},
		{"descending from behind", Query{First: []byte("a"), Last: long, Rows: 5, Descending: true},
			"#p = :p AND #s BETWEEN :s AND :e | :e:p:s | #p#s | strong | 5 | back"},
		{"one", Query{First: []byte("a")},
			"#p = :p AND #s >= :s | :p:s | #p#s | strong | 1"},
	} {
		c := &Table{name: aws.String("table")}
		in := c.Input(row.q)
		if got := describe(in); got != row.want {
			t.Errorf("%s:\n got %s\nwant %s", row.plan, got, row.want)
		}
		for name, v := range in.ExpressionAttributeValues {
			if b, ok := v.(*types.AttributeValueMemberB); ok && len(b.Value) > MaxSort {
				t.Errorf("%s: %s has %d bytes", row.plan, name, len(b.Value))
			}
		}
	}
}

func describe(in *dynamodb.QueryInput) string {
	list := []string{
		*in.KeyConditionExpression, keys(in.ExpressionAttributeValues),
		strings.Join(slices.Sorted(maps.Keys(in.ExpressionAttributeNames)), ""),
		map[bool]string{true: "strong", false: "eventual"}[*in.ConsistentRead], fmt.Sprint(*in.Limit),
	}
	if in.ProjectionExpression != nil {
		list = append(list, "only "+*in.ProjectionExpression)
	}
	if in.FilterExpression != nil {
		list = append(list, fmt.Sprintf("filter %s, %s", *in.FilterExpression, in.ReturnConsumedCapacity))
	}
	if in.ScanIndexForward != nil && !*in.ScanIndexForward {
		list = append(list, "back")
	}
	if in.ExclusiveStartKey != nil {
		list = append(list, fmt.Sprintf("after %d bytes", len(in.ExclusiveStartKey[Sort].(*types.AttributeValueMemberB).Value)))
	}
	return strings.Join(list, " | ")
}

// keys returns the names in an item, sorted and concatenated.
func keys(it Item) string { return strings.Join(slices.Sorted(maps.Keys(it)), "") }
