package kv

import (
	"errors"
	"testing"

	"edgetable/adapters/store/workerskv"
)

// TestRefused checks that refused recognizes error messages of refused writes, and no messages of writes that may have
// been applied.
func TestRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"KV: Error: KV PUT failed: 429 Too Many Requests":               true,
		"KV: Error: KV put() limit exceeded for the day.":               true,
		"KV: Error: KV delete() limit exceeded for the day.":            true,
		"KV: Error: Too many API requests by single Worker invocation.": true,
		"KV: Error: Too many subrequests by single Worker invocation.":  true,
		"KV: Error: KV PUT failed: 500 Internal Server Error":           false,
		"KV: Error: KV PUT failed: 503 Service Unavailable":             false,
		"KV: Error: Network connection lost.":                           false,
	} {
		err := asRefusal(errors.New(text))
		if errors.Is(err, workerskv.ErrRefused) != want || err.Error() != text {
			t.Errorf("%s: %v", text, err)
		}
	}
	if asRefusal(nil) != nil {
		t.Error("no error became a refusal")
	}
}
