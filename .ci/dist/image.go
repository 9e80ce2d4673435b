package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// imageUser is the user in the image, by number: Kubernetes cannot tell from a name
// that it is not root.
const imageUser = 65532

// image writes an image for all Linuxes, from scratch, as an OCI layout in a tar
// file, which docker load, podman load and skopeo read.
func (r *release) image(dir string) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, t := range r.targets {
		if t.os != "linux" {
			continue
		}
		img, err := r.platformImage(t)
		if err != nil {
			return err
		}
		platform := &v1.Platform{OS: t.os, Architecture: t.arch}
		if t.arm != "" {
			platform.Variant = "v" + t.arm
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: platform}})
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	// An index of the layout with one index for all platforms in it, which has the name.
	all := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), mutate.IndexAddendum{
		Add: index, Descriptor: v1.Descriptor{Annotations: map[string]string{
			"io.containerd.image.name":          "docker.io/library/edgetable:" + r.Version,
			"org.opencontainers.image.ref.name": r.Version,
		}},
	})
	if _, err := layout.Write(dir+"/layout", all); err != nil {
		return err
	}
	err := r.tarDir(dir+"/layout", filepath.Join(dir, "edgetable_"+r.Version+"_oci.tar"))
	return errors.Join(err, os.RemoveAll(dir+"/layout"))
}

func (r *release) platformImage(t target) (v1.Image, error) {
	layers, err := r.layers(t)
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err := mutate.AppendLayers(base, layers...)
	if err != nil {
		return nil, err
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created = t.os, t.arch, v1.Time{Time: r.time}
	if t.arm != "" {
		file.Variant = "v" + t.arm
	}
	for i := range file.History {
		file.History[i] = v1.History{Created: file.Created, CreatedBy: "make dist"}
	}
	file.Config = v1.Config{
		User:         "65532:65532",
		Env:          []string{"PATH=/usr/bin", "EDGETABLE_LISTEN=0.0.0.0:10002", "EDGETABLE_DATA=/data"},
		ExposedPorts: map[string]struct{}{"10002/tcp": {}},
		Volumes:      map[string]struct{}{"/data": {}},
		WorkingDir:   "/",
		Entrypoint:   []string{"/usr/bin/edgetable"},
		Cmd:          []string{"serve"},
		StopSignal:   "SIGTERM",
		Healthcheck: &v1.HealthConfig{
			Test:     []string{"CMD", "/usr/bin/edgetable", "health"},
			Interval: 10 * time.Second, Timeout: 6 * time.Second, StartPeriod: 10 * time.Second, Retries: 3,
		},
		Labels: map[string]string{
			"org.opencontainers.image.title":    "edgetable",
			"org.opencontainers.image.version":  r.Version,
			"org.opencontainers.image.revision": r.FullCommit,
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return mutate.ConfigFile(img, file)
}

// layers are the files around the program, which rarely change, and the program.
func (r *release) layers(t target) ([]v1.Layer, error) {
	program, err := os.ReadFile(t.program)
	if err != nil {
		return nil, err
	}
	var layers []v1.Layer
	for _, files := range [][]imageFile{
		{
			{name: "data/", mode: 0o700, owner: imageUser},
			{name: "etc/passwd", mode: 0o644, text: []byte("root:x:0:0:root:/:\nedgetable:x:65532:65532:edgetable:/data:\n")},
			{name: "etc/group", mode: 0o644, text: []byte("root:x:0:\nedgetable:x:65532:\n")},
			{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, text: rootCertificates()},
			{name: "tmp/", mode: 0o1777},
		},
		{
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
			tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer)
	}
	return layers, nil
}

// imageFile is a file, or a directory if its name ends in a slash.
type imageFile struct {
	name  string
	mode  int64
	owner int
	text  []byte
}

func (r *release) add(w *tar.Writer, f imageFile) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.text)), Uid: f.owner, Gid: f.owner, ModTime: r.time}
	if f.name[len(f.name)-1] == '/' {
		h.Typeflag = tar.TypeDir
	}
	err := w.WriteHeader(h)
	if err == nil {
		_, err = w.Write(f.text)
	}
	return err
}

// rootCertificates are those that browsers trust, for issuers of bearer tokens and for
// AWS. Those with restrictions that a file cannot say are left out.
func rootCertificates() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a Buffer takes everything
		}
	}
	return b.Bytes()
}

// tarDir writes the files of a directory, in the order of their names.
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

// images copies the image to the other files.
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
