package main

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/testdata/must"
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

// TestChangesOfRestored restores a store from its log. A client of the original store may have seen commits that the
// restored store lacks. So the restored store must refuse the position of this client, and so must its secondary.
func TestChangesOfRestored(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	primary := start(t, nil, p.primary...)
	c := primary.client(t, "")
	c.fill(t)
	primary.backsUp(t)
	do := console{t, nil}
	do.run(0, "tables", "set", "people", "--changes", "P1D", "--to", primary.greetingText(t, "connection string"))
	ask := func(c *signingClient, since string) (status int, next, text string) {
		t.Helper()
		resp, err := c.Do(c.request(t, "GET", "/people?comp=changes"+since, ""))
		must.OK(t, err)
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		must.OK(t, err)
		return resp.StatusCode, resp.Header.Get("x-edgetable-next"), string(b)
	}
	_, position, _ := ask(c, "")
	c.rename(t, "Joan")
	primary.ships(t)
	primary.ends(t)
	restored := filepath.Join(p.dir, "restored")
	succeed(t, "backup", "restore", p.place, restored)
	again := start(t, nil, append([]string{"--data", restored}, p.primary[2:]...)...)
	again.backsUp(t)
	secondary := start(t, nil, p.secondary...)
	secondary.secondary(t).shows(t, secondary, "Joan")
	for what, c := range map[string]*signingClient{"the secondary": secondary.secondary(t), "the restored store": again.client(t, "")} {
		if status, _, text := ask(c, "&since="+position); status != 410 || !strings.Contains(text, "HistoryChanged") {
			t.Errorf("%s: %d %s", what, status, text)
		}
	}
	_, position, _ = ask(again.client(t, ""), "")
	again.client(t, "").rename(t, "Lin")
	if status, _, text := ask(again.client(t, ""), "&since="+position); status != 200 || !strings.Contains(text, "Lin") {
		t.Errorf("a position of the restored store: %d %s", status, text)
	}
}
