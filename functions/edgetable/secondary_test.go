package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"edgetable/functions/edgetable/cli"
	"edgetable/testdata/must"
)

// pair is a primary and a secondary with the same backup location. The primary copies its log to the location, and the
// secondary applies the log.
type pair struct {
	dir, place string
	primary    []string // arguments of the primary
	secondary  []string
}

// newPair returns a pair that is not started. The directories have no reserve file, because tests copy them: 256 MiB would
// take most of the time.
func newPair(t *testing.T) *pair {
	p := &pair{dir: t.TempDir()}
	p.place = filepath.Join(p.dir, "place")
	p.primary = []string{"--data", filepath.Join(p.dir, "primary"), "--metrics-listen", "127.0.0.1:0", "--backup-to", p.place, "--backup-log", "20ms",
		"--disk-reserve", "0"}
	p.secondary = []string{"--data", filepath.Join(p.dir, "secondary"), "--metrics-listen", "127.0.0.1:0", "--secondary-of", p.place, "--secondary-max-lag", "1s",
		"--backup-to", p.place, "--backup-log", "20ms", "--disk-reserve", "0"}
	return p
}

// start starts the primary and the secondary. It returns when the entity ada on the secondary has this name.
func (p *pair) start(t *testing.T, name string) (primary, secondary *testServer) {
	t.Helper()
	primary = start(t, nil, p.primary...)
	c := primary.client(t, "")
	c.fill(t)
	primary.backsUp(t)
	secondary = start(t, nil, p.secondary...)
	c.rename(t, name)
	d := secondary.secondary(t)
	d.shows(t, secondary, name)
	return primary, secondary
}

// secondary returns a client for the secondary address of the account. The account name there ends with -secondary.
func (s *testServer) secondary(t *testing.T) *signingClient {
	c := s.client(t, "")
	c.endpoint += "-secondary"
	return c
}

// name returns the Name of the entity ada, or "" if the entity does not exist. It repeats the request, because a
// secondary closes its connections when it switches to another store.
func (c *signingClient) name(t *testing.T) string {
	t.Helper()
	resp, err := c.Do(c.request(t, "GET", ada, ""))
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	b := new(strings.Builder)
	_, err = fmt.Fprint(b, resp.StatusCode)
	must.OK(t, err)
	if resp.StatusCode != 200 {
		return ""
	}
	text := make([]byte, 4096)
	n, _ := resp.Body.Read(text)
	_, after, _ := strings.Cut(string(text[:n]), `"Name":"`)
	name, _, _ := strings.Cut(after, `"`)
	return name
}

func (c *signingClient) shows(t *testing.T, s *testServer, name string) {
	t.Helper()
	eventually(t, "the secondary shows "+strconv.Quote(name), s, func() bool { return c.name(t) == name })
}

func (c *signingClient) has(t *testing.T, s *testServer, want string) {
	t.Helper()
	eventually(t, "the status of the secondary is "+want, s, func() bool { status, _ := c.stats(t); return status == want })
}

func (c *signingClient) rename(t *testing.T, name string) {
	t.Helper()
	c.do(t, "PUT", ada, fmt.Sprintf(`{"Name":%q}`, name), 204)
}

// stats returns the status and the LastSyncTime in the statistics of a secondary.
func (c *signingClient) stats(t *testing.T) (status string, last time.Time) {
	t.Helper()
	text := c.do(t, "GET", "/?restype=service&comp=stats", "", 200)
	_, after, _ := strings.Cut(text, "<Status>")
	status, after, _ = strings.Cut(after, "</Status>")
	_, after, _ = strings.Cut(after, "<LastSyncTime>")
	at, _, _ := strings.Cut(after, "</LastSyncTime>")
	last, _ = time.Parse(http.TimeFormat, at)
	return status, last
}

// TestSecondary checks that a secondary serves the entities that the primary wrote. It must refuse writes and report
// the age of its data. Then the test promotes the secondary. The old primary must no longer copy its log to the backup
// location, and can become a secondary.
func TestSecondary(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one, two := p.start(t, "Lady Ada")
	c, d := one.client(t, ""), two.secondary(t)
	c.rename(t, "Countess Ada")
	written := time.Now()
	eventually(t, "LastSyncTime passes the last write, without another one", two, func() bool {
		status, last := d.stats(t)
		return status == "live" && last.After(written)
	})
	if got := d.name(t); got != "Countess Ada" {
		t.Errorf("LastSyncTime is behind the last write, and the secondary shows %q", got)
	}
	for _, address := range []*signingClient{d, two.client(t, "")} {
		if text := address.do(t, "PUT", ada, `{"Name":"no"}`, 403); !strings.Contains(text, "Write operations are not allowed") {
			t.Errorf("%s", text)
		}
		address.do(t, "POST", "/Tables", `{"TableName":"No"}`, 403)
		address.do(t, "DELETE", "/Tables('people')", "", 403)
	}
	refused(t, "is a secondary", "backup", "create", filepath.Join(p.dir, "other"), "--data", filepath.Join(p.dir, "secondary"))

	// A restarted secondary continues where it stopped. Without the flag --secondary-of it refuses to start.
	two.ends(t)
	refused(t, "edgetable promote", "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(p.dir, "secondary"))
	c.do(t, "POST", "/Tables", `{"TableName":"Late"}`, 204)
	c.do(t, "DELETE", "/Tables('people')", "", 204)
	two = start(t, nil, p.secondary...)
	d = two.secondary(t)
	eventually(t, "the secondary has the new table", two, func() bool { return strings.Contains(d.do(t, "GET", "/Tables", "", 200), "Late") })
	d.shows(t, two, "") // wait, because a later object of the log may contain the deletion of the table people
	c.fill(t)
	d.shows(t, two, "Ada")

	// Promote the secondary in place of the primary.
	if out := succeed(t, "promote", filepath.Join(p.dir, "secondary")); !strings.Contains(out, "the store has every write") {
		t.Errorf("%s", out)
	}
	refused(t, "server says", "promote", filepath.Join(p.dir, "secondary"))
	new := two.client(t, "")
	new.rename(t, "from the new primary")
	c.rename(t, "from the old primary")
	one.logs.Await(t, "was replaced")
	if sumOf(t, one.scrape(t, ""), "log_replaced") != 1 {
		t.Error("the metrics of the old primary do not say that it was replaced")
	}
	one.ends(t)
	two.backsUp(t)
	two.ends(t)
	two = start(t, nil, p.secondary...) // the flags name a secondary, but after the promotion the server starts as a primary
	new = two.client(t, "")
	new.rename(t, "after a restart")
	two.ships(t)
	if out := succeed(t, "backup", "verify", p.place); !strings.Contains(out, "can be restored") {
		t.Errorf("%s", out)
	}

	// The old primary becomes a secondary. For this it needs an empty directory.
	old := []string{"--data", filepath.Join(p.dir, "primary"), "--metrics-listen", "127.0.0.1:0", "--secondary-of", p.place, "--secondary-max-lag", "1s"}
	status, _, said := run(t, nil, append([]string{"serve", "--listen", "127.0.0.1:0"}, old...)...)
	if status == 0 || !strings.Contains(said, "name an empty directory") {
		t.Errorf("status %d, %s", status, said)
	}
	must.OK(t, os.RemoveAll(filepath.Join(p.dir, "primary")))
	back := start(t, nil, old...)
	back.secondary(t).shows(t, back, "after a restart")
}

// TestSecondaryOfBrokenPlace checks a secondary whose backup location is missing for some time. It must be unavailable,
// and continue when the location is back. After a gap in the log, it must continue from a newer backup.
func TestSecondaryOfBrokenPlace(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one, two := p.start(t, "before")
	c, d := one.client(t, ""), two.secondary(t)

	back := hide(t, p.place)
	d.has(t, two, "unavailable")
	if resp, err := http.Get(strings.TrimSuffix(two.client(t, "").endpoint, "/devstoreaccount1") + "/_/ready"); err != nil || resp.StatusCode != 503 {
		t.Errorf("ready: %v, %v", resp, err)
	}
	if d.name(t) != "before" {
		t.Error("the secondary does not serve while the place is away")
	}
	c.rename(t, "meanwhile")
	back()
	d.has(t, two, "live")
	d.shows(t, two, "meanwhile")

	// Stop the secondary, and delete an object of the log that the secondary has not read.
	two.ends(t)
	n := pieces(p.place)
	c.rename(t, "lost")
	// If the folder disappears during an upload, the primary stores the object again.
	eventually(t, "the place has another piece", one, func() bool { return pieces(p.place) > n })
	one.ships(t)
	must.OK(t, os.Rename(filepath.Join(p.place, "log"), filepath.Join(p.dir, "lost")))
	c.rename(t, "behind the gap")
	one.hasPieces(t, p.place)
	two = start(t, nil, p.secondary...)
	two.logs.Await(t, "there is no newer backup yet")
	if got := two.secondary(t).name(t); got != "meanwhile" {
		t.Errorf("behind a gap the secondary shows %q", got)
	}
	succeed(t, "backup", "create", p.place, "--data", filepath.Join(p.dir, "primary"))
	two.logs.Await(t, "the store of the secondary is being built")
}

// TestSecondaryOfOtherStore starts secondaries with the backup place of another store. A secondary must say why it does not
// follow. A promoted primary must not start, because it would accept writes. With its own place it must start without its private key. A damaged primary, and a directory of another program, must keep their files.
func TestSecondaryOfOtherStore(t *testing.T) {
	t.Parallel()
	p, q := newPair(t), newPair(t)
	one, two := p.start(t, "of the first store")
	other := start(t, nil, q.primary...)
	other.client(t, "").fill(t)
	other.backsUp(t)
	other.ships(t)
	other.ends(t)
	two.ends(t)
	dir := filepath.Join(p.dir, "secondary")
	foreign := []string{"serve", "--listen", "127.0.0.1:0", "--secondary-of", q.place, "--data"}
	two = start(t, nil, "--data", dir, "--secondary-of", q.place, "--secondary-max-lag", "1s")
	two.logs.Await(t, "belongs to another store than this secondary")
	if got := two.secondary(t).name(t); got != "of the first store" {
		t.Errorf("the secondary shows %q", got)
	}
	two.ends(t)
	refused(t, "belongs to another store", "promote", dir, "--place", q.place)
	one.ends(t)
	succeed(t, "promote", dir, "--place", p.place)
	refused(t, "contains a primary, and --secondary-of names the backup location of another store", append(foreign, dir)...)
	two = start(t, nil, "--data", dir, "--secondary-of", p.place, "--secondary-identity", filepath.Join(p.dir, "missing"))
	two.logs.Await(t, "--secondary-of is ignored")
	two.ends(t)

	strange := filepath.Join(p.dir, "strange")
	must.OK(t, os.MkdirAll(filepath.Join(strange, "archive"), 0o700)) // the store has files of this name, which a swap would remove
	if status, _, said := run(t, nil, append(foreign, strange)...); status != cli.StatusFailed || !strings.Contains(said, `it contains "archive" and no store; name an empty directory`) {
		t.Errorf("a directory of another program: %d %s", status, said)
	}
	if list, err := os.ReadDir(strange); err != nil || len(list) != 1 {
		t.Errorf("the directory of another program contains %v, %v", list, err)
	}

	damaged := filepath.Join(p.dir, "primary")
	markers, err := filepath.Glob(filepath.Join(damaged, "marker.*"))
	must.OK(t, err)
	for _, m := range markers {
		must.OK(t, os.Remove(m))
	}
	before, err := os.ReadDir(damaged)
	must.OK(t, err)
	if status, _, said := run(t, nil, append(foreign, damaged)...); status != cli.StatusDamage || !strings.Contains(said, "is damaged") {
		t.Errorf("a damaged primary: %d %s", status, said)
	}
	after, err := os.ReadDir(damaged)
	must.OK(t, err)
	if len(after) < len(before) {
		t.Errorf("a damaged primary had %v, and has %v", before, after)
	}
}

// TestSecondaryOfRestoredPrimary restores a primary to an earlier moment. The secondary must not apply the log of the
// restored primary.
func TestSecondaryOfRestoredPrimary(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one, two := p.start(t, "early")
	c, d := one.client(t, ""), two.secondary(t)
	moment := time.Now().UTC()
	c.rename(t, "late")
	d.shows(t, two, "late")
	one.ends(t)
	restored := filepath.Join(p.dir, "restored")
	succeed(t, "backup", "restore", p.place, restored, "--to-time", moment.Format(time.RFC3339Nano)[:26]+"Z")
	three := start(t, nil, append([]string{"--data", restored}, p.primary[2:]...)...)
	three.client(t, "").rename(t, "another future")
	two.logs.Await(t, "no longer follows")
	if status, _ := d.stats(t); status != "unavailable" {
		t.Errorf("status %q", status)
	}
	if got := d.name(t); got != "late" {
		t.Errorf("the secondary shows %q", got)
	}
}
