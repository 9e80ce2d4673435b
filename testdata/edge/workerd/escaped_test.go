package workerd_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"edgetable/testdata/edge/workerd"
)

// TestEscapedPage reads text whose characters each take six bytes in JSON. It checks that a page ends before
// it exhausts the memory of a wasm instance.
func TestEscapedPage(t *testing.T) {
	s := sharing(t)
	if status, body := sent(t, s, workerd.Client, "POST", "/Tables", "application/json", `{"TableName":"escaped"}`); status != 201 {
		t.Fatalf("%d %s", status, body)
	}
	const batches, each = 12, 20
	for i := range batches {
		kind, body := batch("escaped", each*i, each, 9000)
		body = strings.ReplaceAll(body, "vvv", strings.Repeat(`\u0001`, 3))
		if status, body := sent(t, s, workerd.Client, "POST", "/$batch", kind, body); status != 202 || strings.Contains(body, "odata.error") {
			t.Fatalf("%d %s", status, body)
		}
	}
	seen, pages, next := 0, 0, ""
	for ; pages == 0 || next != ""; pages++ {
		r := request{method: http.MethodGet, target: "/escaped()?" + next}
		resp, body, err := r.send(t.Context(), s, workerd.Client)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%v %v", resp, err)
		}
		for strings.Contains(body, fmt.Sprintf(`"RowKey":"%04d"`, seen)) {
			seen++
		}
		next = following(resp)
	}
	if seen != batches*each || pages < 2 {
		t.Errorf("%d entities in %d pages", seen, pages)
	}
}
