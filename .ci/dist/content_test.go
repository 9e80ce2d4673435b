package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/blakesmith/ar"
	"github.com/cavaliergopher/cpio"
)

// entry is a file in an archive or a package.
type entry struct {
	name string
	mode int64
	text []byte
}

// expect fails for wanted names, with their modes, that are missing, and for empty
// files.
func expect(t *testing.T, archive string, got []entry, want ...string) {
	t.Helper()
	var names []string
	for _, e := range got {
		names = append(names, fmt.Sprintf("%03o %s", e.mode&0o777, e.name))
		if len(e.text) == 0 {
			t.Errorf("%s: %s is empty", archive, e.name)
		}
	}
	for _, name := range want {
		if !slices.Contains(names, name) {
			t.Errorf("%s has no %s, but %q", archive, name, names)
		}
	}
}

// untar reads regular files. An .apk is several archives, each but the last
// without an end.
func untar(t *testing.T, r io.Reader) (found []entry) {
	t.Helper()
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if h.Uid != 0 || h.Gid != 0 || h.ModTime.Unix() != 1700000000 && h.Name != ".PKGINFO" { // nfpm gives that no time
				t.Errorf("%s: owner %d:%d, time %v", h.Name, h.Uid, h.Gid, h.ModTime)
			}
			found = append(found, entry{strings.TrimPrefix(strings.TrimPrefix(h.Name, "."), "/"), h.Mode, text})
		}
	}
}

func gunzip(t *testing.T, r io.Reader) io.Reader {
	t.Helper()
	z, err := gzip.NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func unzip(t *testing.T, text []byte) (found []entry) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, entry{f.Name, int64(f.Mode().Perm()), text})
	}
	return found
}

func TestArchives(t *testing.T) {
	dist, _ := made(t)
	archives, err := filepath.Glob(dist + "/edgetable_*.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(archives, dist+"/edgetable_1.2.3_windows_amd64.zip") {
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".tar.gz"), ".zip")
		var got []entry
		program := "755 " + name + "/edgetable"
		if strings.HasSuffix(file, ".zip") {
			got, program = unzip(t, readFile(t, file)), program+".exe"
		} else {
			got = untar(t, gunzip(t, bytes.NewReader(readFile(t, file))))
		}
		want := []string{program}
		for _, file := range []string{
			"LICENSE", "README.md", "CHANGELOG.md", "THIRD-PARTY.txt", "edgetable.conf", "edgetable.service", "man/edgetable.1", "man/edgetable-serve.1",
			"completions/edgetable.bash", "completions/edgetable.fish", "completions/edgetable.ps1", "completions/edgetable.zsh",
		} {
			want = append(want, "644 "+name+"/"+file)
		}
		expect(t, filepath.Base(file), got, want...)
	}
}

// What all packages have, by mode and name.
var packaged = []string{
	"755 usr/bin/edgetable", "644 etc/edgetable/edgetable.conf", "644 usr/share/man/man1/edgetable.1.gz", "644 usr/share/man/man1/edgetable-serve.1.gz",
	"644 usr/share/bash-completion/completions/edgetable", "644 usr/share/fish/vendor_completions.d/edgetable.fish",
	"644 usr/share/doc/edgetable/copyright", "644 usr/share/doc/edgetable/LICENSE", "644 usr/share/doc/edgetable/THIRD-PARTY.txt",
}

func TestDebs(t *testing.T) {
	dist, _ := made(t)
	for _, arch := range namesOf(linuxes(), func(p platform) string { return p.deb }) {
		name := "edgetable_1.2.3_" + arch + ".deb"
		r := ar.NewReader(bytes.NewReader(readFile(t, filepath.Join(dist, name))))
		for {
			h, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			switch strings.TrimRight(h.Name, "/") {
			case "control.tar.gz":
				control := untar(t, gunzip(t, r))
				expect(t, name, control, "644 control", "644 conffiles", "755 postinst", "755 prerm", "755 postrm")
				for _, e := range control {
					if e.name == "conffiles" && string(e.text) != "/etc/edgetable/edgetable.conf\n" {
						t.Errorf("%s: conffiles %q", name, e.text)
					}
					if e.name == "control" && !strings.Contains(string(e.text), "Architecture: "+arch+"\n") {
						t.Errorf("%s: control %s", name, e.text)
					}
				}
			case "data.tar.gz":
				expect(t, name, untar(t, gunzip(t, r)),
					append(packaged, "644 lib/systemd/system/edgetable.service", "644 usr/share/zsh/vendor-completions/_edgetable")...)
			}
		}
	}
}

func TestRPMs(t *testing.T) {
	dist, _ := made(t)
	for _, arch := range namesOf(linuxes(), func(p platform) string { return p.rpm }) {
		name := "edgetable-1.2.3-1." + arch + ".rpm"
		text := readFile(t, filepath.Join(dist, name))
		start := bytes.Index(text, []byte{0x1f, 0x8b, 0x08}) // behind the headers
		if start < 0 {
			t.Fatalf("%s has no files", name)
		}
		var found []entry
		for r := cpio.NewReader(gunzip(t, bytes.NewReader(text[start:]))); ; {
			h, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			if h.Mode.IsRegular() {
				found = append(found, entry{strings.TrimLeft(h.Name, "./"), int64(h.Mode.Perm()), text})
			}
		}
		expect(t, name, found, append(packaged, "644 usr/lib/systemd/system/edgetable.service", "644 usr/share/zsh/site-functions/_edgetable")...)
	}
}

func TestAPKs(t *testing.T) {
	dist, _ := made(t)
	for _, arch := range namesOf(linuxes(), func(p platform) string { return p.apk }) {
		name := "edgetable_1.2.3_" + arch + ".apk"
		expect(t, name, untar(t, gunzip(t, bytes.NewReader(readFile(t, filepath.Join(dist, name))))),
			append(packaged, "755 etc/init.d/edgetable", "644 usr/share/zsh/site-functions/_edgetable", "600 PKGINFO",
				"755 post-install", "755 post-upgrade", "755 pre-deinstall", "755 post-deinstall")...)
	}
}
