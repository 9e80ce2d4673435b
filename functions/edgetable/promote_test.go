package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"edgetable/testdata/must"
)

func (p *pair) stopped(t *testing.T, name string) (primary *testServer, directory string) {
	t.Helper()
	primary, secondary := p.start(t, name)
	secondary.ends(t)
	return primary, filepath.Join(p.dir, "secondary")
}

// TestPromoteStopped promotes a secondary whose server does not run. The promotion must first apply the log that the
// primary has copied to the backup location. If a directory has no store, or the store of a primary, the promotion must
// be refused. A failed promotion can be repeated.
func TestPromoteStopped(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one, dir := p.stopped(t, "early")
	c := one.client(t, "")
	c.rename(t, "shipped while it was stopped")
	one.ships(t)

	refused(t, "has no complete store", "promote", filepath.Join(p.dir, "nothing"), "--place", p.place)
	refused(t, "has no complete store", "promote", p.place, "--place", p.place)
	refused(t, "is a primary already", "promote", filepath.Join(p.dir, "primary"), "--place", p.place)
	console{t, nil}.says(2, "name the backup location with --place", "promote", dir)
	console{t, nil}.says(2, "--place: ", "promote", dir, "--place", "s4://nowhere")
	refused(t, "the backup location is empty", "promote", dir, "--place", t.TempDir())
	back := hide(t, p.place)
	refused(t, "the secondary may lack writes that are in the backup location", "promote", dir, "--place", p.place)
	back()
	c.rename(t, "still the primary")
	one.ships(t)
	if strings.Contains(one.logs.String(), "was replaced") {
		t.Error("a promotion that was refused has taken over the place")
	}

	// The promotion takes over the backup location. Then it fails before it has marked the store as the primary.
	full := filepath.Join(dir, "TIMELINE.new")
	must.OK(t, os.Mkdir(full, 0o700))
	must.OK(t, os.WriteFile(filepath.Join(full, "file"), nil, 0o600))
	refused(t, "TIMELINE", "promote", dir, "--place", p.place)
	c.rename(t, "too late")
	one.logs.Await(t, "was replaced")
	refused(t, "edgetable promote", "serve", "--listen", "127.0.0.1:0", "--data", dir)
	must.OK(t, os.RemoveAll(full))
	if out := succeed(t, "promote", dir, "--place", p.place); !strings.Contains(out, "the store has every write") {
		t.Errorf("%s", out)
	}
	refused(t, "is a primary already", "promote", dir, "--place", p.place)
	one.ends(t)

	two := start(t, nil, p.secondary...)
	if got := two.client(t, "").name(t); got != "still the primary" {
		t.Errorf("the promoted store shows %q", got)
	}
	two.client(t, "").rename(t, "from the new primary")
	two.backsUp(t)
	two.ships(t)
	two.ends(t)
	if out := succeed(t, "backup", "verify", p.place); !strings.Contains(out, "can be restored") {
		t.Errorf("%s", out)
	}
	restored := filepath.Join(p.dir, "restored")
	succeed(t, "backup", "restore", p.place, restored)
	three := start(t, nil, "--data", restored)
	if got := three.client(t, "").name(t); got != "from the new primary" {
		t.Errorf("the place has %q", got)
	}
}

// TestPromoteWithoutPlace promotes a secondary while the backup location cannot be reached. When the location is back,
// the new primary must take it over.
func TestPromoteWithoutPlace(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one, dir := p.stopped(t, "early")
	back := hide(t, p.place)
	succeed(t, "promote", dir, "--place", p.place, "--without-place")
	back()
	one.client(t, "").rename(t, "of the old primary")
	one.ships(t)
	two := start(t, nil, p.secondary...)
	c := two.client(t, "")
	if got := c.name(t); got != "early" {
		t.Errorf("the promoted store shows %q", got)
	}
	c.rename(t, "of the new primary")
	// The old primary copies its log to the backup location until the new primary takes over the location. The new
	// primary must ignore the writes in this log.
	eventually(t, "the old primary stops to ship", one, func() bool {
		one.client(t, "").rename(t, "of the old primary again")
		return strings.Contains(one.logs.String(), "was replaced")
	})
	two.ships(t)
	two.ends(t)
	restored := filepath.Join(p.dir, "restored")
	succeed(t, "backup", "restore", p.place, restored)
	three := start(t, nil, "--data", restored)
	if got := three.client(t, "").name(t); got != "of the new primary" {
		t.Errorf("the place has %q", got)
	}
}

// TestPromoteBeforeGap checks that a promotion does not skip a gap in the log unless a flag permits this. The promotion
// must never begin to rebuild the store.
func TestPromoteBeforeGap(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one, dir := p.stopped(t, "early")
	c := one.client(t, "")
	c.rename(t, "lost")
	// Wait until no upload is in progress, because an upload would create the removed folder again.
	one.ships(t)
	must.OK(t, os.Rename(filepath.Join(p.place, "log"), filepath.Join(p.dir, "lost")))
	c.rename(t, "behind the gap")
	one.hasPieces(t, p.place)
	succeed(t, "backup", "create", p.place, "--data", filepath.Join(p.dir, "primary"))
	refused(t, "the secondary may lack writes that are in the backup location", "promote", dir, "--place", p.place)
	succeed(t, "promote", dir, "--place", p.place, "--without-place")
	two := start(t, nil, p.secondary...)
	if got := two.client(t, "").name(t); got != "early" {
		t.Errorf("the promoted store shows %q", got)
	}
	two.client(t, "").rename(t, "of the new primary")
}

// TestPromoteEncrypted promotes a stopped secondary. The log in the backup location is encrypted. Without the private
// key, the promotion must be refused.
func TestPromoteEncrypted(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	private, err := age.GenerateX25519Identity()
	must.OK(t, err)
	key := filepath.Join(p.dir, "key.txt")
	must.OK(t, os.WriteFile(key, []byte(private.String()+"\n"), 0o600))
	p.primary = append(p.primary, "--backup-encrypt-to", private.Recipient().String())
	p.secondary = append(p.secondary, "--backup-encrypt-to", private.Recipient().String(), "--secondary-identity", key)
	one, dir := p.stopped(t, "early")
	one.client(t, "").rename(t, "late")
	one.ships(t)
	refused(t, "the secondary may lack writes that are in the backup location", "promote", dir, "--place", p.place)
	succeed(t, "promote", dir, "--place", p.place, "--secondary-identity", key)
	two := start(t, nil, p.secondary...)
	if got := two.client(t, "").name(t); got != "late" {
		t.Errorf("the promoted store shows %q", got)
	}
}

// TestTakeOverNothing runs promote --take-over for a primary that no other store has replaced, and with backup locations
// without a log. The command must be refused, and must not create a backup location.
func TestTakeOverNothing(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	dir, plain, missing := filepath.Join(p.dir, "primary"), filepath.Join(p.dir, "plain"), filepath.Join(p.dir, "missing")
	one := start(t, nil, p.primary...)
	one.client(t, "").fill(t)
	one.backsUp(t)
	one.ships(t)
	one.ends(t)
	succeed(t, "backup", "create", plain, "--data", dir)
	for _, place := range []string{missing, plain} {
		refused(t, "has no log of this store", "promote", dir, "--take-over", "--place", place)
	}
	if _, err := os.Stat(missing); !os.IsNotExist(err) {
		t.Errorf("the command has created the place: %v", err)
	}
	restored := filepath.Join(p.dir, "restored")
	succeed(t, "backup", "restore", p.place, restored)
	for _, dir := range []string{dir, restored} {
		refused(t, "no other store has replaced it", "promote", dir, "--take-over", "--place", p.place)
	}
}
