package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// unpack writes the files of a tar below a directory.
func unpack(t *testing.T, r io.Reader, dir string) {
	t.Helper()
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(file, 0o755)
		} else if err = os.MkdirAll(filepath.Dir(file), 0o755); err == nil {
			var text []byte
			if text, err = io.ReadAll(tr); err == nil {
				err = os.WriteFile(file, text, 0o644)
			}
		}
		if err == nil {
			err = os.Chmod(file, h.FileInfo().Mode())
		}
		if err == nil && os.Geteuid() == 0 {
			err = os.Chown(file, h.Uid, h.Gid)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// imagePlatforms are those of the release's image.
func imagePlatforms() []string {
	return namesOf(linuxes(), func(p platform) string { return p.image })
}

// readImage demands an image for some platforms, and returns that of this machine's kind.
func readImage(t *testing.T, file string, want ...string) v1.Image {
	t.Helper()
	dir := t.TempDir()
	unpack(t, bytes.NewReader(readFile(t, file)), dir)
	root, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := root.IndexManifest()
	if err != nil || len(m.Manifests) != 1 {
		t.Fatalf("%+v, %v", m, err)
	}
	all, err := root.ImageIndex(m.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(all); err != nil {
		t.Error(err)
	}
	if m, err = all.IndexManifest(); err != nil {
		t.Fatal(err)
	}
	var found v1.Image
	var got []string
	for _, d := range m.Manifests {
		got = append(got, d.Platform.String())
		if d.Platform.OS == runtime.GOOS && d.Platform.Architecture == runtime.GOARCH {
			if found, err = all.Image(d.Digest); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the image is for %q, want %q", got, want)
	}
	if found == nil {
		t.Skipf("the image is for Linux, not for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	return found
}

// container runs commands as a container of an image does: in its files, with its
// environment, as its user. Only root can, and not everywhere; for others the files are
// their own.
type container struct {
	root        string
	inside      bool
	config      v1.Config
	environment []string
}

func (c *container) command(args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(slices.Clone(c.config.Env), c.environment...)
	if c.inside {
		cmd.Path, cmd.Err, cmd.Dir = args[0], nil, "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: c.root, Credential: &syscall.Credential{Uid: imageUser, Gid: imageUser}}
	} else {
		cmd.Path, cmd.Err = filepath.Join(c.root, args[0]), nil
		cmd.Env = append(cmd.Env, "EDGETABLE_DATA="+c.root+"/data")
	}
	return cmd
}

// run runs the image's program to its end.
func (c *container) run(t *testing.T, args ...string) string {
	t.Helper()
	var failed bytes.Buffer
	cmd := c.command(args...)
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v\n%s%s", args, err, out, &failed)
	}
	return string(out)
}

// The image is read back, and its program serves signed requests in its files.
func TestImage(t *testing.T) {
	dist, programs := made(t)
	img := readImage(t, filepath.Join(dist, "edgetable_1.2.3_oci.tar"), imagePlatforms()...)
	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	c := container{root: t.TempDir(), inside: os.Geteuid() == 0, config: file.Config}
	if err := os.Chmod(c.root, 0o755); err != nil {
		t.Fatal(err)
	}
	r := mutate.Extract(img)
	unpack(t, r, c.root)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(readFile(t, c.root+"/usr/bin/edgetable"), readFile(t, programs+"/linux_"+runtime.GOARCH+"/edgetable")) {
		t.Error("the image has another program than the archives")
	}
	if roots := bytes.Count(readFile(t, c.root+"/etc/ssl/certs/ca-certificates.crt"), []byte("BEGIN CERTIFICATE")); roots < 100 {
		t.Errorf("the image trusts %d issuers of certificates", roots)
	}

	// What docker run would do, but on a port of its own.
	c.environment = []string{"EDGETABLE_LISTEN=127.0.0.1:0"}
	program := c.config.Entrypoint[0]
	if err := c.command(program, "version").Run(); c.inside && errors.Is(err, os.ErrPermission) {
		t.Log("root may not do here what a container needs, so the program runs as on a machine: ", err)
		c.inside = false
	}
	c.run(t, program, "account", "new", "acme")
	server := c.command(append(c.config.Entrypoint, c.config.Cmd...)...)
	var logs bytes.Buffer
	server.Stderr = &logs
	out, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill() })
	endpoint := ""
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "ready" {
		if _, text, ok := strings.Cut(lines.Text(), "  endpoint "); ok {
			endpoint = strings.TrimSpace(text)
		}
	}
	if endpoint == "" {
		t.Fatalf("%v\n%s", server.Wait(), &logs)
	}
	address, _, _ := strings.Cut(strings.TrimPrefix(endpoint, "http://"), "/")
	c.environment = []string{"EDGETABLE_LISTEN=" + address}
	check := c.config.Healthcheck.Test
	if check[0] != "CMD" {
		t.Fatalf("health check %q", check)
	}
	if said := c.run(t, check[1:]...); said != "ok\n" {
		t.Errorf("the health check says %q", said)
	}
	accounts := "/data/accounts"
	if !c.inside {
		accounts = c.root + accounts
	}
	c.run(t, program, "bench", "--endpoint", endpoint, "--accounts", accounts, "--op", "get", "--duration", "300ms", "--entities", "100")
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := server.Wait(); err != nil {
		t.Errorf("%v\n%s", err, &logs)
	}
	if err := c.command(check[1:]...).Run(); err == nil {
		t.Error("the health check is content without a server")
	}
}
