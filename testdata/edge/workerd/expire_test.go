package workerd_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestExpire sets an expiry rule of a table over HTTP, and checks it in all Durable Objects of the table.
// For each operation, an expired entity must be absent. In the first hour of a rule, no expired entity is
// deleted. If the rule is removed in this hour, all entities must be visible again.
func TestExpire(t *testing.T) {
	s := start(t, "EDGETABLE_BUCKETS=3", "EDGETABLE_SPLIT_BYTES=1")
	must(t, 201, s, "POST", "acme", "/Tables", "", `{"TableName":"ends"}`)
	for i := range 6 {
		put(t, s, fmt.Sprintf("/ends(PartitionKey='p%d',RowKey='r')", i)) // the keys are spread over several objects
	}
	entity := func(partition int, year string) string {
		return fmt.Sprintf(`{"PartitionKey":"p%d","RowKey":"e","E":"%s-01-01T00:00:00Z","E@odata.type":"Edm.DateTime"}`, partition, year)
	}
	send := func(want int, method, target, body string) string {
		t.Helper()
		for {
			switch status, answer := ask(t, s, method, "acme", target, "", body); status {
			case want:
				return answer
			case 503, 500: // repeat the request, because entities are being moved to another object
			default:
				t.Fatalf("%s %s: %d %s", method, target, status, answer)
			}
		}
	}
	for i := range 6 {
		send(201, "POST", "/ends", entity(i, "2001"))
	}
	if page := send(200, "GET", "/ends()", ""); strings.Count(page, `"RowKey":"e"`) != 6 {
		t.Errorf("before the rule: %s", page)
	}
	send(204, "PUT", "/ends?comp=options", `{"expire":{"property":"E"}}`)
	if options := send(200, "GET", "/ends?comp=options", ""); !strings.Contains(options, `"property":"E"`) || !strings.Contains(options, `"active"`) {
		t.Errorf("the options are %s", options)
	}
	if page := send(200, "GET", "/ends()", ""); strings.Count(page, `"RowKey":"e"`) != 0 || strings.Count(page, `"RowKey":"r"`) != 6 {
		t.Errorf("with the rule: %s", page)
	}
	for i := range 6 {
		target := fmt.Sprintf("/ends(PartitionKey='p%d',RowKey='e')", i)
		send(404, "GET", target, "")
		if i%2 == 0 {
			send(201, "POST", "/ends", entity(i, "2101"))
			send(200, "GET", target, "")
		}
	}
	send(204, "PUT", "/ends?comp=options", `{}`)
	if page := send(200, "GET", "/ends()", ""); strings.Count(page, `"RowKey":"e"`) != 6 {
		t.Errorf("without the rule: %s", page)
	}
}
