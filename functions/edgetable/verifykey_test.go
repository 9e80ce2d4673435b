package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"edgetable/testdata/must"
)

// TestVerifyOtherKey checks that verify does not report a wrong key as damage. It must report the
// key once, with the exit status of a wrong command line.
func TestVerifyOtherKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, place := filepath.Join(dir, "data"), filepath.Join(dir, "place")
	var public []string
	for _, name := range []string{"own", "other"} {
		private, err := age.GenerateX25519Identity()
		must.OK(t, err)
		public = append(public, private.Recipient().String())
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(private.String()+"\n"), 0o600))
	}
	s := start(t, nil, "--data", data, "--backup-to", place, "--backup-log", "20ms", "--backup-encrypt-to", public[0], "--metrics-listen", "127.0.0.1:0")
	s.client(t, "").fill(t)
	s.backsUp(t)
	s.ends(t)
	out, said := console{t, nil}.run(1, "backup", "verify", place, "--identity", filepath.Join(dir, "other"))
	if n := strings.Count(said, "does not decrypt"); n != 1 || strings.Contains(out+said, "damaged") || strings.Contains(out, "cannot be decrypted") {
		t.Errorf("%s%s", out, said)
	}
	if out := succeed(t, "backup", "verify", place, "--identity", filepath.Join(dir, "own"), "--json"); !strings.Contains(out, `"log"`) {
		t.Errorf("without the moments that can be restored: %s", out)
	}
}
