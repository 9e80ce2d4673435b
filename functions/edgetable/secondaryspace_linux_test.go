package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/testdata/must"
	"edgetable/testdata/proc"
)

// TestSecondaryFullDisk starts a secondary without a store on a full disk. It must listen and answer 503. When the
// disk has space, it must build its store.
func TestSecondaryFullDisk(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one := start(t, nil, p.primary...)
	one.client(t, "").fill(t)
	one.backsUp(t)
	disk := proc.Disk(t, "64m")
	fill := filepath.Join(disk, "fill")
	must.OK(t, fillUp(fill, 0))
	p.secondary[1] = filepath.Join(disk, "secondary")
	p.secondary = append(p.secondary, "--disk-reserve", "256MiB") // as by default: a sixteenth of this disk

	two := start(t, nil, p.secondary...)
	two.logs.Await(t, "the secondary cannot be built yet")
	d := two.secondary(t)
	if text := d.do(t, "GET", ada, "", 503); !strings.Contains(text, "being built") {
		t.Errorf("%s", text)
	}
	if status, text := two.health(t, "/_/ready"); status != 503 {
		t.Errorf("ready: %d %s", status, text)
	}
	must.OK(t, os.Remove(fill))
	d.shows(t, two, "Ada")
	d.has(t, two, "live")
	two.ends(t)
}
