package main

import (
	"strings"
	"testing"
)

// TestChangesOfSecondary checks that a position in the primary's feed of changes is also valid on its secondary. The
// secondary must return the later change that it has received. The primary also serves reads at a second endpoint,
// which ends with -secondary. The position must be valid there too.
func TestChangesOfSecondary(t *testing.T) {
	t.Parallel()
	primary, secondary := newPair(t).start(t, "Grace")
	do, at := console{t, nil}, primary.greetingText(t, "connection string")
	do.run(0, "tables", "set", "people", "--changes", "P1D", "--to", at)
	c := primary.client(t, "")
	resp, err := c.Do(c.request(t, "GET", "/people?comp=changes", ""))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	position := resp.Header.Get("x-edgetable-next")
	c.rename(t, "Joan")
	secondary.secondary(t).shows(t, secondary, "Joan")
	for what, s := range map[string]*signingClient{"the secondary": secondary.secondary(t), "the primary": primary.secondary(t)} {
		if text := s.do(t, "GET", "/people?comp=changes&since="+position, "", 200); strings.Count(text, `"specversion"`) != 1 || !strings.Contains(text, "Joan") {
			t.Errorf("%s tells %s", what, text)
		}
	}
	out, _ := do.run(0, "watch", "people", "--once", "--since", position, "--from", secondary.greetingText(t, "connection string"))
	if !strings.HasPrefix(out, "put (PartitionKey='a',RowKey='1') {") {
		t.Errorf("watch prints %s", out)
	}
}
