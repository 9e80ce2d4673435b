package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"edgetable/testdata/must"
)

// health returns the server's response to a path such as /_/live or /_/ready.
func (s *testServer) health(t *testing.T, path string) (status int, text string) {
	t.Helper()
	resp, err := http.Get(strings.TrimSuffix(s.client(t, "").endpoint, "/devstoreaccount1") + path)
	must.OK(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	must.OK(t, err)
	return resp.StatusCode, string(b)
}

// TestSecondaryWithoutStore starts a secondary without a store. It must listen and answer 503. As soon as the backup
// location has a backup, the secondary must serve at the same address.
func TestSecondaryWithoutStore(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	two := start(t, nil, p.secondary...)
	d := two.secondary(t)
	if text := d.do(t, "GET", ada, "", 503); !strings.Contains(text, "ServerBusy") || !strings.Contains(text, "being built") {
		t.Errorf("%s", text)
	}
	d.do(t, "PUT", ada, `{"Name":"no"}`, 403)
	if status, last := d.stats(t); status != "bootstrap" || !last.IsZero() {
		t.Errorf("status %q, LastSyncTime %v", status, last)
	}
	if status, _ := two.health(t, "/_/live"); status != 200 {
		t.Errorf("live: %d", status)
	}
	if status, text := two.health(t, "/_/ready"); status != 503 || !strings.Contains(text, "being built") {
		t.Errorf("ready: %d %s", status, text)
	}
	refused(t, "has no complete store", "promote", filepath.Join(p.dir, "secondary"))
	refused(t, "has no complete store", "promote", filepath.Join(p.dir, "secondary"), "--without-place")

	one := start(t, nil, p.primary...)
	one.client(t, "").fill(t)
	d.shows(t, two, "Ada")
	d.has(t, two, "live")
	if status, text := two.health(t, "/_/ready"); status != 200 {
		t.Errorf("ready: %d %s", status, text)
	}
	if sumOf(t, two.scrape(t, ""), "secondary") != 1 {
		t.Error("the metrics of the secondary are not at their address any more")
	}
	two.ends(t)
}

// damageNewest removes an object that only the newest backup uses. The map in the parameter before has the names of
// the objects of older backups.
func damageNewest(t *testing.T, place string, before map[string]bool) {
	t.Helper()
	for _, name := range objectsOf(t, place) {
		if !before[name] {
			must.OK(t, os.Remove(filepath.Join(place, "objects", name)))
			return
		}
	}
	t.Fatal("the newest backup has no object of its own")
}

func objectsOf(t *testing.T, place string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(place, "objects"))
	must.OK(t, err)
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// TestSecondaryKeepsStore damages the newest backup and the log, so that a secondary cannot build its next store. The
// secondary must continue to serve its current store, also after a restart, and it can be promoted. When the backup
// can be read again, the new store must replace the current store.
func TestSecondaryKeepsStore(t *testing.T) {
	t.Parallel()
	for _, running := range []bool{true, false} {
		p := newPair(t)
		one, dir := p.stopped(t, "early")
		c := one.client(t, "")
		c.rename(t, "lost")
		one.ships(t)
		must.OK(t, os.Rename(filepath.Join(p.place, "log"), filepath.Join(p.dir, "lost")))
		c.rename(t, "after the gap")
		one.ships(t)
		before := map[string]bool{}
		for _, name := range objectsOf(t, p.place) {
			before[name] = true
		}
		succeed(t, "backup", "create", p.place, "--data", filepath.Join(p.dir, "primary"))
		damageNewest(t, p.place, before)

		two := start(t, nil, p.secondary...)
		d := two.secondary(t)
		two.logs.Await(t, "is missing")
		for range 2 {
			if got := d.name(t); got != "early" {
				t.Errorf("it shows %q", got)
			}
			if status, _ := d.stats(t); status != "unavailable" {
				t.Errorf("status %q", status)
			}
			if status, _ := two.health(t, "/_/ready"); status != 503 {
				t.Errorf("ready: %d", status)
			}
			refused(t, "the secondary may lack writes that are in the backup location", "promote", dir)
			two.ends(t)
			two = start(t, nil, p.secondary...)
			d = two.secondary(t)
		}
		if running {
			succeed(t, "promote", dir, "--without-place")
		} else {
			two.ends(t)
			succeed(t, "promote", dir, "--place", p.place, "--without-place")
			two = start(t, nil, p.secondary...)
		}
		if got := two.client(t, "").name(t); got != "early" {
			t.Errorf("promoted, it shows %q", got)
		}
		two.client(t, "").rename(t, "of the new primary")
		two.ends(t) // a promotion does not wait until a build is interrupted
		if _, err := os.Stat(filepath.Join(dir, "secondary.new")); err == nil {
			t.Error("a part of a store that is not needed stays")
		}
	}
}

// TestSecondaryOfOlderBackup removes an object of the newest backup. A new secondary must then be built from an older
// backup and the log.
func TestSecondaryOfOlderBackup(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one := start(t, nil, p.primary...)
	c := one.client(t, "")
	c.fill(t)
	one.backsUp(t)
	before := map[string]bool{}
	for _, name := range objectsOf(t, p.place) {
		before[name] = true
	}
	c.rename(t, "of the log")
	one.ends(t) // a server that stops first copies the rest of its log to the backup location
	succeed(t, "backup", "create", p.place, "--data", filepath.Join(p.dir, "primary"))
	damageNewest(t, p.place, before)
	two := start(t, nil, p.secondary...)
	d := two.secondary(t)
	d.shows(t, two, "of the log")
}

// TestSecondaryOfAnotherKey checks a secondary that cannot decrypt new objects, because the primary now encrypts with
// another key. It must serve its current data until it gets the new key.
func TestSecondaryOfAnotherKey(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	var files, public []string
	for _, name := range []string{"old", "new"} {
		private, err := age.GenerateX25519Identity()
		must.OK(t, err)
		files, public = append(files, filepath.Join(p.dir, name)), append(public, private.Recipient().String())
		must.OK(t, os.WriteFile(files[len(files)-1], []byte(private.String()+"\n"), 0o600))
	}
	primary, secondary := p.primary, p.secondary
	p.primary = append(primary, "--backup-encrypt-to", public[0])
	p.secondary = append(secondary, "--secondary-identity", files[0])
	one, two := p.start(t, "of the old key")
	d := two.secondary(t)
	one.ends(t)
	one = start(t, nil, append(primary, "--backup-encrypt-to", public[1])...)
	one.client(t, "").rename(t, "of the new key")
	one.ships(t)
	succeed(t, "backup", "create", p.place, "--data", filepath.Join(p.dir, "primary"), "--encrypt-to", public[1])
	two.logs.Await(t, "decrypted")
	for range 20 {
		if got := d.name(t); got != "of the old key" {
			t.Fatalf("it shows %q", got)
		}
	}
	two.ends(t)
	two = start(t, nil, p.secondary...)
	if got := two.secondary(t).name(t); got != "of the old key" {
		t.Errorf("after a restart it shows %q", got)
	}
	two.ends(t)
	two = start(t, nil, append(secondary, "--secondary-identity", files[1])...)
	two.secondary(t).shows(t, two, "of the new key")
}
