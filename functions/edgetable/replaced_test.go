package main

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"edgetable/functions/edgetable/cli"
	"edgetable/testdata/must"
)

func (s *testServer) ready(t *testing.T) int {
	t.Helper()
	resp, err := http.Get(strings.TrimSuffix(s.client(t, "").endpoint, "/devstoreaccount1") + "/_/ready")
	must.OK(t, err)
	resp.Body.Close()
	return resp.StatusCode
}

// checkReplaced checks a primary that was replaced by a promoted store. The server must refuse writes, serve reads, and
// not be ready. It must not report the age of its data as a secondary does.
func (s *testServer) checkReplaced(t *testing.T) {
	t.Helper()
	c := s.client(t, "")
	if text := c.do(t, "PUT", ada, `{"Name":"no"}`, 403); !strings.Contains(text, "InsufficientAccountPermissions") {
		t.Errorf("%s", text)
	}
	if status := s.ready(t); status != 503 {
		t.Errorf("ready: %d", status)
	}
	if status, _ := s.secondary(t).stats(t); status != "unavailable" {
		t.Errorf("status %q", status)
	}
	if c.name(t) == "" {
		t.Error("it serves no reads")
	}
}

// replacePrimary starts a primary and a secondary, stops the primary, and promotes the secondary. The old primary then
// has two writes that are not in the backup location.
func replacePrimary(t *testing.T) (p *pair, two *testServer, old string) {
	t.Helper()
	p = newPair(t)
	one, two := p.start(t, "shipped")
	one.ships(t)
	back := hide(t, p.place)
	one.client(t, "").rename(t, "not shipped")
	one.client(t, "").rename(t, "not shipped, the last")
	// The copied files are now like the files of a killed process.
	old = filepath.Join(p.dir, "old")
	must.OK(t, os.Remove(filepath.Join(p.dir, "primary", cli.AdminSocket)))
	copied := func() error {
		must.OK(t, os.RemoveAll(old))
		return os.CopyFS(old, os.DirFS(filepath.Join(p.dir, "primary")))
	}
	err := copied()
	for errors.Is(err, fs.ErrNotExist) { // try again, because the server has renamed a file during the copy
		err = copied()
	}
	must.OK(t, err)
	one.ends(t)
	back()
	p.primary[1] = old
	succeed(t, "promote", filepath.Join(p.dir, "secondary"))
	two.client(t, "").rename(t, "of the new primary")
	two.backsUp(t)
	two.ships(t)
	return p, two, old
}

// checkRestored restores the newest state in the backup location, and checks the Name of the entity ada.
func (p *pair) checkRestored(t *testing.T, name string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "restored")
	succeed(t, "backup", "restore", p.place, dir)
	if got := readPeople(t, dir)["1"]; got != name {
		t.Errorf("the place has %q, want %q", got, name)
	}
}

// TestReplacedPrimary starts a primary that was replaced while it did not run. It must refuse writes, make no backups,
// and report at each start what the backup location lacks. Then the operator makes it the primary again.
func TestReplacedPrimary(t *testing.T) {
	t.Parallel()
	p, two, old := replacePrimary(t)
	refused(t, "was replaced", "backup", "create", p.place, "--data", old)
	one := start(t, nil, p.primary...)
	one.checkReplaced(t)
	if !strings.Contains(one.logs.String(), "lacks 2 commits of this store, the first from ") {
		t.Error("it does not say what the place lacks: ", one.logs)
	}
	refused(t, "was replaced", "backup", "create", p.place, "--data", old)
	one.logs.Await(t, "no backups are made")
	one.ends(t)
	// The data directory records that a new primary has replaced this server. So the server refuses writes even if it
	// starts without the backup location.
	bare := start(t, nil, p.primary[:2]...)
	bare.checkReplaced(t)
	bare.ends(t)
	refused(t, "--take-over", "promote", old, "--place", p.place)
	p.checkRestored(t, "of the new primary")

	one = start(t, nil, p.primary...)
	one.checkReplaced(t)
	refused(t, "--take-over", "promote", old)
	succeed(t, "promote", old, "--take-over")
	c := one.client(t, "")
	if got := c.name(t); got != "not shipped, the last" {
		t.Errorf("it has %q", got)
	}
	c.rename(t, "primary again")
	if status, _ := one.secondary(t).stats(t); status != "live" {
		t.Errorf("status %q", status)
	}
	one.backsUp(t)
	one.ships(t)
	refused(t, "is a primary already", "promote", old, "--take-over")
	// The replaced server still runs. It no longer copies its log to the backup location, and makes no backups. But it
	// accepts writes until its next start.
	two.client(t, "").rename(t, "lost")
	two.logs.Await(t, "no backups are made")
	if status := two.ready(t); status != 503 {
		t.Errorf("ready: %d", status)
	}
	if status, _ := two.secondary(t).stats(t); status != "unavailable" {
		t.Errorf("status %q", status)
	}
	two.client(t, "").rename(t, "lost too")
	two.ends(t)
	two = start(t, nil, p.secondary...)
	two.checkReplaced(t)
	two.ends(t)
	one.ends(t)
	p.checkRestored(t, "primary again")
	if out := succeed(t, "backup", "verify", p.place); !strings.Contains(out, "can be restored") {
		t.Errorf("%s", out)
	}
	succeed(t, "promote", filepath.Join(p.dir, "secondary"), "--place", p.place, "--take-over") // the server that was replaced is stopped now
	two = start(t, nil, p.secondary...)
	two.client(t, "").rename(t, "and back")
	two.backsUp(t)
	two.ends(t)
	p.checkRestored(t, "and back")
}

// TestReplacedPrimaryDamaged promotes a secondary and damages its old primary. The old primary loses commits, or the
// file TIMELINE, which records its history. The old primary must not take the backup location from the promoted store.
func TestReplacedPrimaryDamaged(t *testing.T) {
	t.Parallel()
	for _, damage := range []struct {
		name string
		do   func(t *testing.T, dir string)
	}{
		{"TIMELINE is gone", func(t *testing.T, dir string) { must.OK(t, os.Remove(filepath.Join(dir, "TIMELINE"))) }},
		{"TIMELINE is damaged", func(t *testing.T, dir string) {
			must.OK(t, os.WriteFile(filepath.Join(dir, "TIMELINE"), []byte("damaged"), 0o600))
		}},
		{"commits are lost", func(t *testing.T, dir string) {
			loseCommits(t, dir)
			succeed(t, "check", dir, "--accept-damage")
		}},
	} {
		t.Run(damage.name, func(t *testing.T) {
			t.Parallel()
			p, _, old := replacePrimary(t)
			damage.do(t, old)
			one := start(t, nil, p.primary...)
			one.checkReplaced(t)
			one.logs.Await(t, "no backups are made")
			one.ends(t)
			p.checkRestored(t, "of the new primary")
		})
	}
}

// loseCommits damages the log, so that the store opens only with --accept-damage.
func loseCommits(t *testing.T, dir string) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	must.OK(t, err)
	newest := slices.Max(logs)
	b, err := os.ReadFile(newest)
	must.OK(t, err)
	at := bytes.LastIndex(b, []byte("not shipped"))
	if at = bytes.LastIndex(b[:at], []byte("not shipped")); at < 0 {
		t.Fatal("the log has no such writes")
	}
	b[at] ^= 0xFF
	must.OK(t, os.WriteFile(newest, b, 0o600))
	if status, _, said := run(t, nil, "serve", "--listen", "127.0.0.1:0", "--data", dir); status != cli.StatusDamage {
		t.Fatalf("status %d, %s", status, said)
	}
}

// TestCopyOfPrimary runs two servers on two copies of a data directory. Only one of these servers may copy its log to
// the backup location. The server that starts later must be refused.
func TestCopyOfPrimary(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one, two := p.start(t, "shipped")
	one.ships(t)
	one.ends(t)
	old, clone := filepath.Join(p.dir, "primary"), filepath.Join(p.dir, "clone")
	must.OK(t, os.CopyFS(clone, os.DirFS(old)))
	one = start(t, nil, p.primary...)
	one.client(t, "").rename(t, "of the first")
	one.ships(t)
	other := start(t, nil, append([]string{"--data", clone}, p.primary[2:]...)...)
	other.checkReplaced(t)
	if !strings.Contains(other.logs.String(), "a copy of this data directory was started later") {
		t.Error(other.logs)
	}
	one.client(t, "").rename(t, "of the first again")
	d := two.secondary(t)
	d.shows(t, two, "of the first again")
	other.ends(t)
	one.ends(t)
	p.checkRestored(t, "of the first again")
}

// TestOtherPlaceMounted mounts a wrong disk at the backup location. The server must treat this as a temporary failure,
// and must continue when the right disk is back.
func TestOtherPlaceMounted(t *testing.T) {
	t.Parallel()
	p, q := newPair(t), newPair(t)
	one, _ := p.start(t, "before")
	other := start(t, nil, q.primary...)
	other.client(t, "").fill(t)
	other.backsUp(t)
	other.ships(t)
	other.ends(t)
	one.ships(t)
	aside := filepath.Join(p.dir, "aside")
	must.OK(t, os.Rename(p.place, aside))
	must.OK(t, os.Rename(q.place, p.place))
	one.client(t, "").rename(t, "meanwhile")
	one.logs.Await(t, "is the right disk mounted?")
	if said := one.logs.String(); !strings.Contains(said, "the log is kept until the backup location of this store is available") || strings.Contains(said, "shipped later") {
		t.Error(said)
	}
	if status := one.ready(t); status != 200 {
		t.Errorf("ready: %d", status)
	}
	must.OK(t, os.Rename(p.place, q.place))
	must.OK(t, os.Rename(aside, p.place))
	one.ships(t)
	one.ends(t)
	p.checkRestored(t, "meanwhile")
}

// TestPlaceMountedLate starts a primary before the disk of its backup place is mounted. The server must write nothing to the
// empty folder. When the disk is mounted, it must ship the log of the meantime, so that no history is lost.
func TestPlaceMountedLate(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one := start(t, nil, p.primary...)
	one.client(t, "").fill(t)
	one.backsUp(t)
	one.ships(t)
	one.ends(t)
	aside := filepath.Join(p.dir, "aside")
	must.OK(t, os.Rename(p.place, aside))
	must.OK(t, os.Mkdir(p.place, 0o700))
	one = start(t, nil, p.primary...)
	one.logs.Await(t, "is its disk mounted?")
	one.client(t, "").rename(t, "meanwhile")
	if status := one.ready(t); status != 200 {
		t.Errorf("ready: %d", status)
	}
	must.OK(t, os.Remove(p.place)) // fails if the folder is not empty
	must.OK(t, os.Rename(aside, p.place))
	one.ships(t)
	one.ends(t)
	p.checkRestored(t, "meanwhile")
	if lines, err := os.ReadDir(filepath.Join(p.place, "timelines")); err != nil || len(lines) != 2 { // a timeline and its term
		t.Errorf("%v, %v", lines, err)
	}
}

// TestPlaceMountedLateForFirstLog starts a server with --backup-log for the first time, before the disk of its backups is
// mounted. The server must write nothing to the empty folder, and must ship its log when the disk is mounted.
func TestPlaceMountedLateForFirstLog(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one := start(t, nil, p.primary[:slices.Index(p.primary, "--backup-log")]...)
	one.client(t, "").fill(t)
	one.backsUp(t)
	one.ends(t)
	aside := filepath.Join(p.dir, "aside")
	must.OK(t, os.Rename(p.place, aside))
	must.OK(t, os.Mkdir(p.place, 0o700))
	one = start(t, nil, p.primary...)
	one.logs.Await(t, "is its disk mounted?")
	must.OK(t, os.Remove(p.place)) // fails if the folder is not empty
	must.OK(t, os.Rename(aside, p.place))
	one.backsUp(t) // the log continues this backup
	one.client(t, "").rename(t, "shipped")
	one.ships(t)
	one.ends(t)
	p.checkRestored(t, "shipped")
}

// TestPlaceEmptied empties a backup place on purpose. The next start must not write there, and must name the command after
// which the server begins anew. After this command, it must ship its log there.
func TestPlaceEmptied(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one := start(t, nil, p.primary...)
	one.client(t, "").fill(t)
	one.backsUp(t)
	one.ships(t)
	one.ends(t)
	must.OK(t, os.RemoveAll(p.place))
	one = start(t, nil, p.primary...)
	one.logs.Await(t, "To begin anew in the empty location, run 'edgetable backup create'")
	succeed(t, "backup", "create", p.place, "--data", filepath.Join(p.dir, "primary"))
	one.backsUp(t) // the server makes a backup that its log continues
	one.ships(t)
	one.client(t, "").rename(t, "anew")
	one.ships(t)
	one.ends(t)
	p.checkRestored(t, "anew")
}

// TestPlaceOfEarlierHistory ships a log to one place, then to a new one, and then to the first one again. The store knows
// only its newest history, so it must leave the backups in the first place alone. The log must name the command that takes
// over the place. This command must work, and the backups in the place must remain.
func TestPlaceOfEarlierHistory(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one := start(t, nil, p.primary...)
	one.client(t, "").fill(t)
	one.backsUp(t)
	one.ships(t)
	if strings.Contains(one.logs.String(), "is the right disk mounted?") {
		t.Error("it warns about a new place: ", one.logs)
	}
	one.ends(t)
	other := append(append([]string{}, p.primary...), "--backup-to", filepath.Join(p.dir, "other"))
	one = start(t, nil, other...)
	one.logs.Await(t, "is the right disk mounted?")
	one.ships(t)
	one.client(t, "").rename(t, "meanwhile")
	one.ends(t)
	one = start(t, nil, p.primary...)
	one.client(t, "").rename(t, "late")
	dir := filepath.Join(p.dir, "primary")
	one.logs.Await(t, "edgetable promote '"+dir+"' --place '"+p.place+"' --take-over")
	if said := one.logs.String(); !strings.Contains(said, "The backups in the location are kept") || strings.Contains(said, "empty it") {
		t.Error(said)
	}
	one.ends(t)
	before, err := os.ReadDir(filepath.Join(p.place, "backups"))
	must.OK(t, err)
	succeed(t, "promote", dir, "--place", p.place, "--take-over")
	one = start(t, nil, p.primary...)
	one.backsUp(t)
	one.ships(t)
	one.ends(t)
	p.checkRestored(t, "late")
	for _, b := range before {
		if _, err := os.Stat(filepath.Join(p.place, "backups", b.Name())); err != nil {
			t.Error(err)
		}
	}
}
