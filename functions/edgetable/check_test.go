package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"edgetable/functions/edgetable/cli"
	"edgetable/testdata/must"
)

// TestDamage damages the log of a killed server. It checks that the next start reports the loss,
// and that 'check' recovers the undamaged data.
func TestDamage(t *testing.T) {
	t.Parallel()
	live, dir := filepath.Join(t.TempDir(), "live"), filepath.Join(t.TempDir(), "dir")
	s := start(t, nil, "--data", live, "--disk-reserve", "0") // without a reserve file, which would be copied
	c := s.client(t, "")
	c.do(t, "POST", "/Tables", `{"TableName":"People"}`, 204)
	for i := range 200 {
		c.do(t, "POST", "/People", fmt.Sprintf(`{"PartitionKey":"p","RowKey":"%03d","Text":%q}`, i, strings.Repeat("x", 200)), 204)
	}
	if err := os.Remove(filepath.Join(live, cli.AdminSocket)); err != nil { // skip the socket, which cannot be copied like a file
		t.Fatal(err)
	}
	// The copied files are now like the files of a killed process.
	must.OK(t, os.CopyFS(dir, os.DirFS(live)))
	s.ends(t)

	console{t, nil}.says(0, "1 table, 200 entities", "check", dir)
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatal("there is no log", err)
	}
	newest := slices.Max(logs)
	b, err := os.ReadFile(newest)
	must.OK(t, err)
	at := strings.Index(string(b), "\x00100") // the bytes with the RowKey of entity 100
	for i := range 4 {
		b[at+i] ^= 0xFF
	}
	must.OK(t, os.WriteFile(newest, b, 0o600))

	status, _, said := run(t, nil, "serve", "--listen", "127.0.0.1:0", "--data", dir)
	if status != cli.StatusDamage || !strings.Contains(said, newest) || !strings.Contains(said, "edgetable check --accept-damage "+dir) {
		t.Errorf("serve: %d %s", status, said)
	}
	if status, _, said := run(t, nil, "check", dir, "--salvage", filepath.Join(dir, "saved")); status != cli.StatusUsage || !strings.Contains(said, "inside the data directory") {
		t.Errorf("check --salvage inside: %d %s", status, said)
	}
	saved := filepath.Join(t.TempDir(), "saved")
	must.OK(t, os.WriteFile(filepath.Join(dir, cli.AccountsInData), []byte("acme:"+key1+"\n"), 0o600))
	status, out, said := run(t, nil, "check", dir, "--salvage", saved)
	if status != cli.StatusDamage || !strings.Contains(out, newest) || !strings.Contains(out, "1 table, 199 entities") {
		t.Errorf("check: %d %s %s", status, out, said)
	}
	if text, err := os.ReadFile(filepath.Join(saved, cli.AccountsInData)); err != nil || string(text) != "acme:"+key1+"\n" || !strings.Contains(out, "the accounts are in") {
		t.Errorf("the saved accounts are %q, %v; %s", text, err, out)
	}
	for _, d := range []string{dir, saved} { // without the file of accounts, the server has the development account, whose key signs the requests of this test
		must.OK(t, os.Remove(filepath.Join(d, cli.AccountsInData)))
	}
	if status, _, said := run(t, nil, "check", dir, "--salvage", saved+"2", "--accept-damage"); status != cli.StatusUsage {
		t.Errorf("both: %d %s", status, said)
	}
	if status, out, said := run(t, nil, "check", dir, "--accept-damage"); status != cli.StatusDone || !strings.Contains(out, "1 table, 199 entities") || !strings.Contains(said, newest) {
		t.Errorf("check --accept-damage: %d %s %s", status, out, said)
	}
	for _, d := range []string{saved, dir} {
		s := start(t, nil, "--data", d)
		c := s.client(t, "")
		c.do(t, "GET", "/People(PartitionKey='p',RowKey='099')", "", 200)
		c.do(t, "GET", "/People(PartitionKey='p',RowKey='100')", "", 404)
		c.do(t, "GET", "/People(PartitionKey='p',RowKey='199')", "", 200)
		s.ends(t)
	}
	if kept, _ := filepath.Glob(filepath.Join(dir, "*.damaged")); len(kept) != 1 {
		t.Errorf("damaged logs that were kept: %q", kept)
	}
}

// TestCheckAccounts damages the file of accounts of a data directory. A server does not start with this file, so 'check'
// must report it, also if the tables are complete. If there is no such file, a salvage must say so.
func TestCheckAccounts(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s := start(t, nil, "--data", dir)
	s.client(t, "").fill(t)
	s.ends(t)
	do, file := console{t, nil}, filepath.Join(dir, cli.AccountsInData)
	do.says(0, "1 table", "check", dir)
	for name, flags := range map[string][]string{"saved": nil, "saved2": {"--json"}} {
		do.says(0, "there is no file of accounts in "+dir, append([]string{"check", dir, "--salvage", filepath.Join(t.TempDir(), name)}, flags...)...)
	}
	must.OK(t, os.WriteFile(file, []byte("acme:"+key1+"\n"), 0o644))
	must.OK(t, os.Chmod(file, 0o644))
	do.says(0, "1 table", "check", dir) // the mode is no damage
	must.OK(t, os.Chmod(file, 0o600))
	for _, text := range []string{"acme:" + key1 + "\nacme:\x00\n", ""} {
		must.OK(t, os.WriteFile(file, []byte(text), 0o600))
		status, out, said := run(t, nil, "check", dir)
		if status != cli.StatusDamage || !strings.Contains(out, file) || !strings.Contains(out, "1 table, 1 entity") || !strings.Contains(said, "repair its accounts file") {
			t.Errorf("%q: %d %s %s", text, status, out, said)
		}
		if status, _, said := run(t, nil, "serve", "--listen", "127.0.0.1:0", "--data", dir); status == 0 || !strings.Contains(said, file) {
			t.Errorf("%q: serve: %d %s", text, status, said)
		}
	}
}

// TestCheckInterruptedRestore checks that 'check' names the interrupted restore of a directory and creates nothing, with
// and without a salvage.
func TestCheckInterruptedRestore(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir, saved := filepath.Join(root, "dir"), filepath.Join(root, "saved")
	must.OK(t, os.Mkdir(dir, 0o700))
	for _, name := range []string{"restore.unfinished", "000004.sst"} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte("20261123T223213.825Z-c485b849\n"), 0o600))
	}
	for _, args := range [][]string{{"check", dir}, {"check", dir, "--accept-damage"}, {"check", dir, "--salvage", saved}} {
		status, out, said := run(t, nil, args...)
		if status != cli.StatusDamage || out != "" || !strings.Contains(said, "run the same 'edgetable backup restore' again") {
			t.Errorf("%q: %d %s %s", args, status, out, said)
		}
	}
	entries, err := os.ReadDir(dir)
	must.OK(t, err)
	if len(entries) != 2 {
		t.Errorf("%s contains %v", dir, entries)
	}
	if _, err := os.Stat(saved); !os.IsNotExist(err) {
		t.Errorf("%s: %v", saved, err)
	}
}

// TestCheckAdvice checks that 'check' does not name --accept-damage if this flag cannot help, because the MANIFEST is damaged.
func TestCheckAdvice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, nil, "--data", dir)
	s.client(t, "").fill(t)
	s.ends(t)
	manifests, err := filepath.Glob(filepath.Join(dir, "MANIFEST-*"))
	must.OK(t, err)
	for _, path := range manifests {
		must.OK(t, os.Truncate(path, 10))
	}
	status, out, said := run(t, nil, "check", dir)
	if status != cli.StatusDamage || !strings.Contains(out, "cannot start") || strings.Contains(said, "--accept-damage") || !strings.Contains(said, "with --salvage") {
		t.Errorf("check: %d %s %s", status, out, said)
	}
	if status, _, said := run(t, nil, "check", dir, "--accept-damage"); status != cli.StatusDamage {
		t.Errorf("check --accept-damage: %d %s", status, said)
	}
}
