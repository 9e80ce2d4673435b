package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/functions/edgetable/cli"
	"edgetable/testdata/must"
)

// TestDamagedBackup damages the files of a backup location one after another. The command verify must name the damaged
// file. A backup that needs the file must not be restored.
func TestDamagedBackup(t *testing.T) {
	t.Parallel()
	data, place := t.TempDir(), filepath.Join(t.TempDir(), "place")
	s := start(t, nil, "--data", data)
	s.client(t, "").fill(t)
	succeed(t, "backup", "create", place, "--data", data)
	files := 0
	if err := filepath.WalkDir(place, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if filepath.Base(filepath.Dir(path)) == "names" {
			return nil // a file in names/ only shows that a manifest existed; a restore does not need the file
		}
		files++
		good, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		bad := append([]byte(nil), good...)
		bad[len(bad)/2] ^= 1
		for _, damage := range []func() error{
			func() error { return os.WriteFile(path, bad, 0o600) },
			func() error { return os.WriteFile(path, good[:len(good)-1], 0o600) },
			func() error { return os.Remove(path) },
		} {
			if err := damage(); err != nil {
				return err
			}
			restored := filepath.Join(t.TempDir(), "restored")
			name := filepath.Base(path)
			console{t, nil}.says(cli.StatusDamage, name, "backup", "verify", place)
			if name != "format" { // a restore does not need the file named "format": this file only identifies the store of the backups
				refused(t, "", "backup", "restore", place, restored)
				if _, err := os.Stat(restored); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s: a refused restore left a directory", name)
				}
			}
		}
		return os.WriteFile(path, good, 0o600)
	}); err != nil {
		t.Fatal(err)
	}
	if files < 6 {
		t.Errorf("only %d files", files)
	}
	succeed(t, "backup", "verify", place)
}

// TestBackupOfDamage checks that a backup of a damaged data file fails. The failed backup must
// leave no backup and no objects in the backup location.
func TestBackupOfDamage(t *testing.T) {
	t.Parallel()
	data, place := t.TempDir(), filepath.Join(t.TempDir(), "place")
	s := start(t, nil, "--data", data)
	c := s.client(t, "")
	c.fill(t)
	for i := range 10 {
		text := make([]byte, 10_000) // random bytes, because they cannot be compressed
		rand.Read(text)
		c.do(t, "PUT", fmt.Sprintf("/people(PartitionKey='b',RowKey='%d')", i), fmt.Sprintf(`{"Text":"%x"}`, text), 204)
	}
	s.ends(t)
	files, err := filepath.Glob(filepath.Join(data, "*.sst"))
	if err != nil || len(files) == 0 {
		t.Fatal("no data files", err)
	}
	b, err := os.ReadFile(files[0])
	must.OK(t, err)
	b[len(b)/2] ^= 1
	must.OK(t, os.WriteFile(files[0], b, 0o600))
	refused(t, filepath.Base(files[0]), "backup", "create", place, "--data", data)
	refused(t, "there are no backups", "backup", "restore", place, filepath.Join(t.TempDir(), "new"))
	for _, kind := range []string{"unfinished", "objects"} {
		if left, err := filepath.Glob(filepath.Join(place, kind, "*")); err != nil || len(left) > 0 {
			t.Errorf("the failed backup left %q, %v", left, err)
		}
	}

	// A command that reads the damaged data must fail at once with one message, without retries.
	s = start(t, nil, "--data", data)
	status, _, said := runUntil(t.Context(), nil, "query", "people", "--from", s.greetingText(t, "connection string"), "--format", "jsonl")
	if status != cli.StatusFailed || !strings.Contains(said, "Repeating the request does not help") || strings.Contains(said, "is repeated until") {
		t.Errorf("status %d: %s", status, said)
	}
	log := s.logs.String()
	if n := strings.Count(log, " is damaged: requests for data in it get 500"); n != 1 || strings.Contains(log, "request failed") || strings.Contains(log, "detail carrier") {
		t.Errorf("the log names the file %d times:\n%s", n, log)
	}
}
