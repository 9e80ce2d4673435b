package monitoring_test

import (
	"testing"

	"edgetable/testdata/dynamodb/local"
	"edgetable/testdata/needs"
)

// TestDynamoDB checks that the panels and alerts about DynamoDB find data when a server uses
// DynamoDB.
func TestDynamoDB(t *testing.T) {
	needs.These(t, needs.AWS, needs.Prometheus)
	endpoint, stop, err := local.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	place := []string{"--dynamodb-table", "monitored", "--dynamodb-region", "us-east-1", "--dynamodb-endpoint", endpoint}
	t.Setenv("AWS_ACCESS_KEY_ID", "local")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "local")
	run(t, "", build(t), append([]string{"dynamodb", "create"}, place...)...)
	s := serve(t, nil, append(place, "--store", "dynamodb")...)
	s.bench(t, "--op", "scan", "--table", "scanned", "--entities", "500", "--connections", "2")
	s.bench(t, "--op", "mixed", "--table", "mixed", "--entities", "500", "--connections", "4")
	s.bench(t, "--op", "insert", "--table", "inserted", "--connections", "2")
	list := expressions(t, func(p panel) bool { return p.row == "DynamoDB" }, func(g group) bool { return g.Name == "edgetable-dynamodb" })
	s.checkExpressions(t, list, healthy{
		"Calls by result made again": "throttling, or a call that gets no answer",
		"EdgetableDynamoDBBusy":      "throttling, which DynamoDB Local does not do",
		"EdgetableDynamoDBUnknown":   "a call that gets no answer",
	})
}
