package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/testdata/must"
)

// TestFolderForAnotherAccount checks that a server that runs as another user gets a directory that this user
// can enter. If the user cannot enter a given directory, the error must name the directory.
func TestFolderForAnotherAccount(t *testing.T) {
	a := &account{"nobody", 65534, 65534}
	private := filepath.Join(t.TempDir(), "private")
	must.OK(t, os.MkdirAll(filepath.Join(private, "open"), 0o755))
	must.OK(t, os.Chmod(private, 0o700))
	t.Setenv("TMPDIR", filepath.Join(private, "open"))
	err := a.own(filepath.Join(private, "open"))
	if err == nil || !strings.Contains(err.Error(), "the user nobody, who cannot enter ") {
		t.Errorf("own: %v", err)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root gives directories to others")
	}
	dir, err := folder(a, "edgetable-test-")
	must.OK(t, err)
	t.Cleanup(func() { must.OK(t, os.RemoveAll(dir)) })
	if strings.HasPrefix(dir, private) {
		t.Errorf("%s is below a directory that the account cannot enter", dir)
	}
	must.OK(t, a.enters(dir))
}

// TestStartShowsTheLog checks that if a server cannot start, the error contains the server's log.
func TestStartShowsTheLog(t *testing.T) {
	dir := t.TempDir()
	c := &Cluster{Dir: dir, place: dir, bin: dir}
	server := "#!/bin/sh\necho 'FATAL: the reason' >&2\nexit 1\n"
	must.OK(t, os.WriteFile(filepath.Join(dir, "postgres"), []byte(server), 0o755))
	if err := c.Start(); err == nil || !strings.Contains(err.Error(), "it has ended\nlog: …FATAL: the reason") {
		t.Errorf("%v", err)
	}
	p := &process{dir: dir, name: "etcd0", args: []string{filepath.Join(dir, "postgres")}}
	must.OK(t, p.start())
	<-p.ended
	all := &Patroni{dir: dir}
	all.etcd[0] = p
	err := all.await(0, "a primary", func() bool { return false })
	if err == nil || !strings.Contains(err.Error(), "there will not be a primary: etcd0 has ended\netcd0.log: …") {
		t.Errorf("%v", err)
	}
	must.OK(t, p.kill())
}
