package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// imageUser is the id of the image's user. It is numeric, because Kubernetes cannot tell whether a named user is root.
const imageUser = 65532

// image writes a docker-archive for each Linux platform, and an OCI layout with an index. It uses Docker's media types:
// Podman ignores the health check of OCI images.
func (r *release) image(dir string) error {
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	index := mutate.IndexMediaType(empty.Index, types.DockerManifestList)
	for _, t := range r.targets {
		if t.os != "linux" {
			continue
		}
		img, err := r.platformImage(t)
		if err != nil {
			return err
		}
		if err := r.dockerArchive(img, filepath.Join(dir, "edgetable_"+r.Version+"_"+t.arch+t.variant()+"_image.tar")); err != nil {
			return err
		}
		platform := &v1.Platform{OS: t.os, Architecture: t.arch, Variant: t.variant()}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: platform}})
	}
	// The outer index has a single entry, which has the image name and refers to the index of all platforms.
	allPlatforms := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), mutate.IndexAddendum{
		Add: index, Descriptor: v1.Descriptor{Annotations: map[string]string{
			"io.containerd.image.name":          "docker.io/library/edgetable:" + r.Version,
			"org.opencontainers.image.ref.name": r.Version,
		}},
	})
	if _, err := layout.Write(dir+"/layout", allPlatforms); err != nil {
		return err
	}
	err := r.tarDir(dir+"/layout", filepath.Join(dir, "edgetable_"+r.Version+"_oci.tar"))
	return errors.Join(err, os.RemoveAll(dir+"/layout"))
}

// dockerArchive writes an archive from which Docker loads the image as edgetable:VERSION and edgetable:latest.
func (r *release) dockerArchive(img v1.Image, file string) error {
	tags := map[name.Tag]v1.Image{}
	for _, tag := range []string{r.Version, "latest"} {
		t, err := name.NewTag("edgetable:" + tag)
		if err != nil {
			return err
		}
		tags[t] = img
	}
	// The library writes the tags in map order. Retry until they are sorted, so that the build is reproducible.
	for {
		if err := tarball.MultiWriteToFile(file, tags); err != nil {
			return err
		}
		m, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(file) })
		if err != nil || len(m) == 1 && slices.IsSorted(m[0].RepoTags) {
			return err
		}
	}
}

func (r *release) platformImage(t target) (v1.Image, error) {
	layers, err := r.layers(t)
	if err != nil {
		return nil, err
	}
	img, err := mutate.AppendLayers(empty.Image, layers...)
	if err != nil {
		return nil, err
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Variant, file.Created = t.os, t.arch, t.variant(), v1.Time{Time: r.time}
	for i := range file.History {
		file.History[i] = v1.History{Created: file.Created, CreatedBy: "make dist"}
	}
	file.Config = v1.Config{
		User:         "65532:65532",
		Env:          []string{"PATH=/usr/bin", "EDGETABLE_LISTEN=0.0.0.0:10002", "EDGETABLE_DATA=/data", stopTime},
		ExposedPorts: map[string]struct{}{"10002/tcp": {}},
		Volumes:      map[string]struct{}{"/data": {}},
		WorkingDir:   "/",
		Entrypoint:   []string{"/usr/bin/edgetable"},
		Cmd:          []string{"serve"},
		StopSignal:   "SIGTERM",
		Labels:       r.labels(),
	}
	return addHealthCheck(img, file)
}

// labels returns the image labels, which registries show. Renovate uses them to find the changelog.
func (r *release) labels() map[string]string {
	const prefix = "org.opencontainers.image."
	labels := map[string]string{
		prefix + "title": "edgetable", prefix + "description": summary, prefix + "vendor": r.config.Nfpms[0].Vendor, prefix + "licenses": "Apache-2.0",
		prefix + "version": r.Version, prefix + "revision": r.FullCommit, prefix + "created": r.time.Format(time.RFC3339),
	}
	if r.source != "" {
		labels[prefix+"source"], labels[prefix+"url"], labels[prefix+"documentation"] = r.source, r.source, r.source
	}
	return labels
}

// addHealthCheck returns img with a configuration and a health check. v1.HealthConfig lacks StartInterval, which Docker
// 25 and later use until the server is ready.
func addHealthCheck(img v1.Image, file *v1.ConfigFile) (v1.Image, error) {
	type healthConfig struct {
		v1.HealthConfig
		StartInterval time.Duration
	}
	type config struct {
		v1.Config
		Healthcheck healthConfig
	}
	text, err := json.Marshal(struct {
		*v1.ConfigFile
		Config config `json:"config"`
	}{file, config{file.Config, healthConfig{v1.HealthConfig{
		Test:     []string{"CMD", "/usr/bin/edgetable", "health"},
		Interval: 1500 * time.Millisecond, Timeout: 6 * time.Second, StartPeriod: 10 * time.Second, Retries: 10,
	}, 500 * time.Millisecond}}})
	if err != nil {
		return nil, err
	}
	c := &configured{Image: img, config: text}
	m, err := img.Manifest()
	if err != nil {
		return nil, err
	}
	c.manifest = m.DeepCopy()
	c.manifest.Config.Size = int64(len(text))
	c.manifest.Config.Digest, _, err = v1.SHA256(bytes.NewReader(text))
	return c, err
}

// configured wraps an image and replaces its configuration.
type configured struct {
	v1.Image // the wrapped image, which provides the layers
	config   []byte
	manifest *v1.Manifest
}

func (c *configured) RawConfigFile() ([]byte, error)      { return c.config, nil }
func (c *configured) ConfigFile() (*v1.ConfigFile, error) { return partial.ConfigFile(c) }
func (c *configured) ConfigName() (v1.Hash, error)        { return partial.ConfigName(c) }
func (c *configured) Manifest() (*v1.Manifest, error)     { return c.manifest, nil }
func (c *configured) RawManifest() ([]byte, error)        { return json.Marshal(c.manifest) }
func (c *configured) Digest() (v1.Hash, error)            { return partial.Digest(c) }
func (c *configured) Size() (int64, error)                { return partial.Size(c) }

// layers returns two layers: files that rarely change, and the program.
func (r *release) layers(t target) ([]v1.Layer, error) {
	program, err := os.ReadFile(t.program)
	if err != nil {
		return nil, err
	}
	var layers []v1.Layer
	for _, files := range [][]imageFile{
		{
			{name: "backup/", mode: sharedDirMode, owner: imageUser},
			{name: "data/", mode: sharedDirMode, owner: imageUser},
			{name: "etc/passwd", mode: 0o644, text: []byte("root:x:0:0:root:/:\nedgetable:x:65532:65532:edgetable:/data:\n")},
			{name: "etc/group", mode: 0o644, text: []byte("root:x:0:\nedgetable:x:65532:\n")},
			{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, text: rootCertificates()},
			{name: "tmp/", mode: sharedDirMode},
		},
		{
			{name: "usr/bin/azurite", link: "edgetable"},
			{name: "usr/bin/azurite-table", link: "edgetable"},
			{name: "usr/bin/edgetable", mode: 0o755, text: program},
		},
	} {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, f := range files {
			if err := r.add(w, f); err != nil {
				return nil, err
			}
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil },
			tarball.WithCompressedCaching)
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer)
	}
	return layers, nil
}

// stopTime is how long a stopping server waits for open requests. docker stop kills the server after ten seconds.
const stopTime = "EDGETABLE_GRACE=8s"

// sharedDirMode is the mode of a directory in which every user can create files but can remove only their own. A new
// volume inherits this mode, and a container may run as any user.
const sharedDirMode = 0o1777

// imageFile is a file, a symbolic link or a directory in an image. The name of a directory ends with a slash.
type imageFile struct {
	name  string
	mode  int64
	owner int
	text  []byte
	link  string
}

func (r *release) add(w *tar.Writer, f imageFile) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.text)), Uid: f.owner, Gid: f.owner, ModTime: r.time}
	if f.name[len(f.name)-1] == '/' {
		h.Typeflag = tar.TypeDir
	} else if f.link != "" {
		h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, f.link, 0o777
	}
	err := w.WriteHeader(h)
	if err == nil {
		_, err = w.Write(f.text)
	}
	return err
}

// rootCertificates returns the root certificates that browsers trust, in PEM. It omits certificates with constraints,
// which PEM cannot express.
func rootCertificates() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // writing to a bytes.Buffer cannot fail
		}
	}
	return b.Bytes()
}

// tarDir writes the files of a directory to a tar archive, sorted by name.
func (r *release) tarDir(dir, file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := tar.NewWriter(f)
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		return r.add(w, imageFile{name: name, mode: 0o644, text: text})
	})
	return errors.Join(err, w.Close(), f.Close())
}

// images moves the images to the output directory.
func (r *release) images() error {
	found, err := filepath.Glob("bin/image/*.tar")
	if err != nil {
		return err
	}
	for _, file := range found {
		if err := os.Rename(file, filepath.Join(r.out, filepath.Base(file))); err != nil {
			return err
		}
	}
	return nil
}
