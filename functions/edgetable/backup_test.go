package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"filippo.io/age"
	"golang.org/x/sync/errgroup"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/accounts"
	"edgetable/functions/edgetable/stores"
	"edgetable/testdata/must"
)

func succeed(t *testing.T, args ...string) string {
	t.Helper()
	out, _ := console{t, nil}.run(0, args...)
	return out
}

func refused(t *testing.T, say string, args ...string) {
	t.Helper()
	console{t, nil}.says(1, say, args...)
}

// TestBackup makes a backup of a running server and a backup of a stopped server. It restores each
// backup to a directory, and starts another server with the directory.
func TestBackup(t *testing.T) {
	t.Parallel()
	data, place, dir := t.TempDir(), filepath.Join(t.TempDir(), "place"), t.TempDir()
	s := start(t, nil, "--data", data)
	c := s.client(t, "")
	c.fill(t)
	first := succeed(t, "backup", "create", place, "--data", data)
	c.do(t, "PUT", ada, `{"Name":"Lady Ada"}`, 204)
	if out := succeed(t, "backup", "create", place, "--data", data); !strings.Contains(out, " are new") {
		t.Errorf("create: %s", out)
	}
	c.do(t, "DELETE", "/Tables('people')", "", 204)
	s.ends(t)
	succeed(t, "backup", "create", place, "--data", data)

	if out := succeed(t, "backup", "list", place); strings.Count(out, data) != 3 {
		t.Errorf("list: %s", out)
	}
	if out := succeed(t, "backup", "verify", place); !strings.Contains(out, "3 backups: read ") {
		t.Errorf("verify: %s", out)
	}
	id := strings.TrimSuffix(strings.Fields(first)[1], ":")
	restored := filepath.Join(dir, "restored")
	succeed(t, "backup", "restore", place, restored, "--backup", id)
	refused(t, "is not empty", "backup", "restore", place, restored, "--backup", id)
	succeed(t, "check", restored)
	second := start(t, nil, "--data", restored)
	second.client(t, "").filled(t)
	second.client(t, "").do(t, "PUT", ada, `{"Name":"Countess Ada"}`, 204)
	second.ends(t)

	newest := filepath.Join(dir, "newest")
	succeed(t, "backup", "restore", place, newest)
	start(t, nil, "--data", newest).client(t, "").do(t, "GET", ada, "", 404)

	if out := succeed(t, "backup", "prune", place, "--keep-last", "1", "--dry-run"); !strings.Contains(out, "would remove 2 backups") {
		t.Errorf("prune --dry-run: %s", out)
	}
	if out := succeed(t, "backup", "prune", place, "--older-than", "30d"); !strings.Contains(out, "left: 3 backups") {
		t.Errorf("prune --older-than: %s", out)
	}
	if out := succeed(t, "backup", "prune", place, "--keep-last", "1"); !strings.Contains(out, "left: 1 backup") {
		t.Errorf("prune: %s", out)
	}
	refused(t, "there is no complete backup", "backup", "restore", place, filepath.Join(dir, "gone"), "--backup", id)
	if out := succeed(t, "backup", "verify", place); !strings.Contains(out, "1 backup: read ") {
		t.Errorf("verify after prune: %s", out)
	}
	// The backup location refuses a backup of another store.
	other := t.TempDir()
	start(t, nil, "--data", other).ends(t)
	refused(t, "backups of another store", "backup", "create", place, "--data", other)
	foreign := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(foreign, "photo.jpg"), nil, 0o600))
	link := filepath.Join(dir, "link")
	must.OK(t, os.Symlink(data, link))
	refused(t, "is inside the data directory", "backup", "create", filepath.Join(link, "new", "place"), "--data", data)
	refused(t, "contains other files", "backup", "create", foreign, "--data", data)
	must.OK(t, errors.Join(os.RemoveAll(filepath.Join(place, "backups")), os.RemoveAll(filepath.Join(place, "names"))))
	refused(t, "there are no backups", "backup", "list", place)
	refused(t, "not a single backup", "backup", "prune", place, "--keep-last", "1")
}

// TestCheckpointsTogether checks that concurrent requests for checkpoints do not mix the files of
// the checkpoints.
func TestCheckpointsTogether(t *testing.T) {
	t.Parallel()
	store, err := pebblestore.Open(pebblestore.Options{Dir: t.TempDir()})
	must.OK(t, err)
	defer store.Close()
	c, dir := &stores.Checkpoints{Store: store}, filepath.Join(t.TempDir(), "staging")
	var g errgroup.Group
	for range 8 {
		g.Go(func() error { _, err := c.Checkpoint(t.Context(), dir); return err })
	}
	must.OK(t, g.Wait())
	succeed(t, "check", dir)
}

// TestRestoreKeepExpired checks that a restored table keeps its expiry rule, so that its expired
// entities are absent. With --keep-expired, the restore removes the rules, and the entities are
// present.
func TestRestoreKeepExpired(t *testing.T) {
	t.Parallel()
	data, place, dir := t.TempDir(), filepath.Join(t.TempDir(), "place"), t.TempDir()
	c := start(t, nil, "--data", data).client(t, "")
	c.do(t, "POST", "/Tables", `{"TableName":"Sessions"}`, 204)
	c.do(t, "POST", "/Sessions", `{"PartitionKey":"a","RowKey":"ended","Ends@odata.type":"Edm.DateTime","Ends":"2001-01-01T00:00:00Z"}`, 204)
	c.do(t, "POST", "/Sessions", `{"PartitionKey":"a","RowKey":"stays"}`, 204)
	c.do(t, "PUT", "/Sessions?comp=options", `{"expire":{"property":"Ends"}}`, 204)
	succeed(t, "backup", "create", place, "--data", data)
	for name, tt := range map[string]struct {
		args  []string
		shows bool
	}{
		"whole":   {nil, false},
		"all":     {[]string{"--keep-expired"}, true},
		"alone":   {[]string{"--account", "devstoreaccount1", "--table", "Sessions"}, false},
		"allhere": {[]string{"--account", "devstoreaccount1", "--table", "Sessions", "--keep-expired"}, true},
	} {
		at := filepath.Join(dir, name)
		succeed(t, append([]string{"backup", "restore", place, at}, tt.args...)...)
		restored := start(t, nil, "--data", at).client(t, "")
		got := restored.do(t, "GET", "/Sessions()?$select=RowKey", "", 200)
		if !strings.Contains(got, "stays") || strings.Contains(got, "ended") != tt.shows {
			t.Errorf("restored with %q: %s", tt.args, got)
		}
	}
}

// TestRestoreTable checks that a restore of one table restores exactly the entities of this table.
func TestRestoreTable(t *testing.T) {
	t.Parallel()
	data, place, dir := t.TempDir(), filepath.Join(t.TempDir(), "place"), filepath.Join(t.TempDir(), "alone")
	s := start(t, nil, "--data", data)
	c := s.client(t, "")
	c.fill(t)
	c.do(t, "POST", "/Tables", `{"TableName":"Other"}`, 204)
	succeed(t, "backup", "create", place, "--data", data)
	refused(t, "has no table nobody in this backup", "backup", "restore", place, dir, "--account", "devstoreaccount1", "--table", "Nobody")
	refused(t, "the backup location has no log", "backup", "restore", place, dir, "--timeline", "none")
	for _, left := range []string{"whole", "table"} { // simulate the files of a restore that was killed at its end
		must.OK(t, os.MkdirAll(filepath.Join(dir+".restoring", left), 0o700))
		must.OK(t, os.WriteFile(filepath.Join(dir+".restoring", left, "LOCK"), nil, 0o600))
	}
	must.OK(t, os.WriteFile(filepath.Join(dir+".restoring", "edgetable-restore"), nil, 0o600))
	if out := succeed(t, "backup", "restore", place, dir, "--account", "devstoreaccount1", "--table", "PEOPLE"); !strings.Contains(out, ": 1 entity\n") {
		t.Errorf("restore: %s", out)
	}
	alone := start(t, nil, "--data", dir).client(t, "")
	alone.filled(t)
	alone.do(t, "GET", "/Other()", "", 404)
	if beside, _ := filepath.Glob(dir + ".restoring*"); len(beside) > 0 {
		t.Errorf("left behind: %q", beside)
	}

	// Restore into the running server. The restore keeps existing entities, unless a flag requests
	// to replace them.
	to := "TableEndpoint=" + c.endpoint + ";AccountName=devstoreaccount1;AccountKey=" + accounts.DevelopmentKey
	restore := []string{"backup", "restore", place, "--account", "devstoreaccount1", "--table", "People", "--to", to}
	c.do(t, "DELETE", "/Tables('People')", "", 204)
	succeed(t, restore...)
	c.filled(t)
	c.do(t, "PUT", ada, `{"Name":"Countess Ada"}`, 204)
	name := func() string { return c.do(t, "GET", ada, "", 200) }
	changed := name()
	if succeed(t, restore...); name() != changed {
		t.Errorf("a restore without --mode changed %s to %s", changed, name())
	}
	succeed(t, append(restore, "--mode", "replace")...)
	c.filled(t)
}

// TestEncryptedBackup checks that an encrypted backup can be verified without the private key. A
// restore without the private key must fail.
func TestEncryptedBackup(t *testing.T) {
	t.Parallel()
	key, err := age.GenerateX25519Identity()
	must.OK(t, err)
	dir := t.TempDir()
	data, place, identity := filepath.Join(dir, "data"), filepath.Join(dir, "place"), filepath.Join(dir, "key.txt")
	must.OK(t, os.WriteFile(identity, []byte("# made by a test\n"+key.String()+"\n"), 0o600))
	s := start(t, nil, "--data", data)
	const marked = "a value that chance does not write"
	c := s.client(t, "")
	c.fill(t)
	c.do(t, "PUT", ada, `{"Name":"Ada","Note":"`+marked+`"}`, 204)
	for range 2 {
		succeed(t, "backup", "create", place, "--data", data, "--encrypt-to", key.Recipient().String())
	}
	if err := filepath.WalkDir(place, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), marked) {
			t.Errorf("%s shows an entity", path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	readable := filepath.Join(dir, "readable.txt")
	must.OK(t, os.WriteFile(readable, []byte(key.String()+"\n"), 0o644))
	refused(t, "chmod 600", "backup", "verify", place, "--identity", readable)
	if out := succeed(t, "backup", "verify", place); !strings.Contains(out, "--identity") {
		t.Errorf("verify: %s", out)
	}
	if out := succeed(t, "backup", "verify", place, "--identity", identity); strings.Contains(out, "--identity") {
		t.Errorf("verify with the key: %s", out)
	}
	refused(t, "--identity", "backup", "restore", place, filepath.Join(dir, "no"))
	restored := filepath.Join(dir, "restored")
	succeed(t, "backup", "restore", place, restored, "--identity", identity)
	start(t, nil, "--data", restored).client(t, "").filled(t)
}

// TestScheduledBackups checks that a server makes backups on a schedule and removes old backups.
// After a failed backup, the log and the metrics must show the failure, and the server must try
// again.
func TestScheduledBackups(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	place := filepath.Join(dir, "place")
	if err := os.WriteFile(place, nil, 0o600); err != nil { // a file that makes a backup fail, because the backup needs a directory at the same path
		t.Fatal(err)
	}
	s := start(t, nil, "--data", filepath.Join(dir, "data"), "--metrics-listen", "127.0.0.1:0",
		"--backup-to", place, "--backup-every", "1s", "--backup-keep", "last=2")
	s.client(t, "").fill(t)
	s.logs.Await(t, "backup failed")
	if m := s.scrape(t, ""); sumOf(t, m, "backup_failures_total") == 0 || sumOf(t, m, "backup_last_success_timestamp_seconds") != 0 {
		t.Error("the metrics do not show the failure")
	}
	must.OK(t, os.Remove(place))
	s.logs.Await(t, "old backups removed")
	m := s.scrape(t, "")
	if at := sumOf(t, m, "backup_last_success_timestamp_seconds"); time.Since(time.Unix(int64(at), 0)) > time.Hour || sumOf(t, m, "backups_total") < 2 {
		t.Errorf("the metrics do not show the backups: the last at %g", at)
	}
	s.ends(t)
	out := succeed(t, "backup", "list", place)
	// a heading and two backups, or three backups if the server stopped before it removed the oldest
	// backup
	if n := strings.Count(out, "\n"); n < 3 || n > 4 {
		t.Errorf("list: %s", out)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "data", "backup.staging")); len(left) > 0 {
		t.Error("the staged files are left")
	}
}

// TestUnreachablePlace checks that the log reports an unreachable backup location before the server's last attempt to
// reach the location. The server must serve and stop normally.
func TestUnreachablePlace(t *testing.T) {
	t.Parallel()
	p := startProcess(t, []string{"AWS_ACCESS_KEY_ID=nobody", "AWS_SECRET_ACCESS_KEY=nothing"},
		"--data", filepath.Join(t.TempDir(), "data"), "--backup-to", "s3://bucket/place?region=nowhere&endpoint=http://127.0.0.1:1")
	p.client(t, "").fill(t)
	p.logs.Await(t, "the backup location does not respond")
	p.signal(t, syscall.SIGTERM)
	if err := p.Wait(); err != nil {
		t.Errorf("%v\n%s", err, p.logs)
	}
}

func (s *testServer) backsUp(t *testing.T) {
	t.Helper()
	s.logs.Await(t, "msg=backup ")
}

func (s *testServer) ships(t *testing.T) {
	t.Helper()
	eventually(t, "all of the log is shipped", s, func() bool { return sumOf(t, s.scrape(t, ""), "log_waiting_bytes") == 0 })
}

// hide makes a backup location unreachable: it renames the location and writes a file with the name of the location. It
// returns a function that makes the location reachable again.
func hide(t *testing.T, place string) (back func()) {
	t.Helper()
	hidden := place + ".hidden"
	must.OK(t, os.Rename(place, hidden))
	must.OK(t, os.WriteFile(place, nil, 0o600))
	return func() {
		t.Helper()
		must.OK(t, os.Remove(place))
		must.OK(t, os.Rename(hidden, place))
	}
}

func (s *testServer) hasPieces(t *testing.T, place string) {
	t.Helper()
	eventually(t, "the place has a piece of the log", s, func() bool { return pieces(place) > 0 })
}

// eventually waits until the callback returns true. Use it only for states that the server does
// not log.
func eventually(t *testing.T, what string, s *testServer, holds func() bool) {
	t.Helper()
	must.Eventually(t, what, s.logs, holds) // the server repeats a failed attempt after a minute
}
