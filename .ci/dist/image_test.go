package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"encoding/json"
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
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
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
		if h.Typeflag == tar.TypeSymlink {
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.Symlink(h.Linkname, file)); err != nil {
				t.Fatal(err)
			}
			continue
		}
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

// imagePlatforms returns the platforms of the release's image.
func imagePlatforms() []string {
	return namesOf(linuxes(), func(p platform) string { return p.image })
}

// readImage checks that a file has an image for each of the given platforms, and returns the image for this machine.
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
	allPlatforms, err := root.ImageIndex(m.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(allPlatforms); err != nil {
		t.Error(err)
	}
	if m, err = allPlatforms.IndexManifest(); err != nil {
		t.Fatal(err)
	}
	var found v1.Image
	var got []string
	for _, d := range m.Manifests {
		got = append(got, d.Platform.String())
		if d.Platform.OS == runtime.GOOS && d.Platform.Architecture == runtime.GOARCH {
			if found, err = allPlatforms.Image(d.Digest); err != nil {
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

// TestLoadable checks that every Docker and Podman can load the image file of a platform. The file has a manifest
// like that of docker save, and contains the same image as the index. The test also checks the image configuration.
// It decodes the JSON itself, because the types of go-containerregistry lack some of the fields.
func TestLoadable(t *testing.T) {
	dist, _ := releaseFolders(t)
	for _, p := range linuxes() {
		file := filepath.Join(dist, "edgetable_1.2.3_"+p.loadable+"_image.tar")
		m, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(file) })
		if err != nil {
			t.Fatal(err)
		}
		if len(m) != 1 || !slices.Equal(m[0].RepoTags, []string{"edgetable:1.2.3", "edgetable:latest"}) {
			t.Fatalf("%s: %+v", file, m)
		}
		img, err := tarball.ImageFromPath(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate.Image(img); err != nil {
			t.Error(err)
		}
		got, err := img.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if said := (v1.Platform{OS: got.OS, Architecture: got.Architecture, Variant: got.Variant}).String(); said != p.image {
			t.Errorf("%s is for %s", file, said)
		}
		text, err := img.RawConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		var raw struct {
			Config struct {
				Labels      map[string]string
				Healthcheck struct{ Interval, StartInterval time.Duration }
			}
		}
		if err := json.Unmarshal(text, &raw); err != nil {
			t.Fatal(err)
		}
		if h := raw.Config.Healthcheck; h.StartInterval > time.Second || h.StartInterval == 0 || h.Interval > 2*time.Second {
			t.Errorf("whoever waits for health waits long: %+v", h)
		}
		for _, label := range []string{"title", "description", "version", "revision", "created", "vendor", "licenses", "source", "url", "documentation"} {
			if raw.Config.Labels["org.opencontainers.image."+label] == "" {
				t.Errorf("there is no label %s", label)
			}
		}
	}
	img := readImage(t, filepath.Join(dist, "edgetable_1.2.3_oci.tar"), imagePlatforms()...)
	loaded, err := tarball.ImageFromPath(filepath.Join(dist, "edgetable_1.2.3_"+runtime.GOARCH+"_image.tar"), nil)
	if err != nil {
		t.Fatal(err)
	}
	one, err1 := img.ConfigName()
	other, err2 := loaded.ConfigName()
	if one != other || err1 != nil || err2 != nil {
		t.Errorf("%v (%v), loaded %v (%v)", one, err1, other, err2)
	}
	if kind, err := img.MediaType(); err != nil || kind != types.DockerManifestSchema2 {
		t.Errorf("the manifest is %s, %v: with that of OCI, Podman drops the health check", kind, err)
	}
}

// container runs commands as a container of the image does: with the image's files, environment and user. Only root
// can do this. For other users the commands run with this machine's files.
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

// TestImage reads the image and checks that its program serves signed requests with the image's files.
func TestImage(t *testing.T) {
	dist, programs := releaseFolders(t)
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

	// Run the command of the image as docker run does, but on a free port.
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
