package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
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

// expect checks that an archive has all wanted files and that no file in it is empty. A wanted file is written as
// "MODE NAME".
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

// untar reads the regular files of a tar archive. An .apk consists of several archives, of which only the last has an
// end-of-archive marker.
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
			if h.Uid != 0 || h.Gid != 0 || h.ModTime.Unix() != 1700000000 && h.Name != ".PKGINFO" { // not checked, because nfpm sets no time for .PKGINFO
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
	dist, _ := releaseFolders(t)
	for _, p := range platforms() {
		file := filepath.Join(dist, "edgetable_1.2.3_"+p.archive)
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

// packaged lists the files of every package, each as "MODE NAME".
var packaged = []string{
	"755 usr/bin/edgetable", "644 etc/edgetable/edgetable.conf", "644 usr/share/man/man1/edgetable.1.gz", "644 usr/share/man/man1/edgetable-serve.1.gz",
	"644 usr/share/bash-completion/completions/edgetable", "644 usr/share/fish/vendor_completions.d/edgetable.fish",
	"644 usr/share/doc/edgetable/copyright", "644 usr/share/doc/edgetable/LICENSE", "644 usr/share/doc/edgetable/THIRD-PARTY.txt",
}

func TestDebs(t *testing.T) {
	dist, _ := releaseFolders(t)
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
	dist, _ := releaseFolders(t)
	for _, arch := range namesOf(linuxes(), func(p platform) string { return p.rpm }) {
		name := "edgetable-1.2.3-1." + arch + ".rpm"
		text := readFile(t, filepath.Join(dist, name))
		start := bytes.Index(text, []byte{0x1f, 0x8b, 0x08}) // a gzip stream with the files follows the package's headers
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

// TestAPKs checks that the packages for Alpine contain the source files and no others, with the same bytes. It also
// checks the checksums that apk requires: one over all files, and one for each file.
func TestAPKs(t *testing.T) {
	dist, programs := releaseFolders(t)
	root := filepath.Dir(dist)
	for _, p := range linuxes() {
		name := "edgetable_1.2.3_" + p.apk + ".apk"
		text := readFile(t, filepath.Join(dist, name))
		control, files := members(t, text)
		about := untar(t, gunzip(t, bytes.NewReader(control)))
		got := untar(t, gunzip(t, bytes.NewReader(files)))
		expect(t, name, append(about, got...),
			append(packaged, "755 etc/init.d/edgetable", "644 usr/share/zsh/site-functions/_edgetable", "600 PKGINFO",
				"755 post-install", "755 post-upgrade", "755 pre-deinstall", "755 post-deinstall")...)
		source := map[string]string{
			"post-install": "bin/share/scripts/postinstall", "post-upgrade": "bin/share/scripts/postinstall", "pre-deinstall": "bin/share/scripts/preremove", "post-deinstall": "bin/share/scripts/postremove",
			"usr/bin/edgetable": filepath.Join(programs, p.target, "edgetable"), "etc/edgetable/edgetable.conf": "infra/machines/package/edgetable.conf", "etc/init.d/edgetable": "infra/machines/package/edgetable.openrc",
			"usr/share/bash-completion/completions/edgetable": "bin/share/completions/edgetable.bash", "usr/share/fish/vendor_completions.d/edgetable.fish": "bin/share/completions/edgetable.fish",
			"usr/share/zsh/site-functions/_edgetable": "bin/share/completions/edgetable.zsh", "usr/share/doc/edgetable/copyright": "infra/machines/package/copyright",
			"usr/share/doc/edgetable/THIRD-PARTY.txt": "bin/share/THIRD-PARTY.txt", "usr/share/doc/edgetable/LICENSE": "LICENSE",
		}
		for _, file := range list(t, root+"/bin/share/man") {
			if strings.HasSuffix(file, ".gz") {
				source["usr/share/man/man1/"+file] = "bin/share/man/" + file
			}
		}
		settings := ""
		for _, e := range about {
			if e.name == "PKGINFO" {
				settings = string(e.text)
			}
		}
		for _, line := range []string{"pkgname = edgetable", "pkgver = 1.2.3", "arch = " + p.apk, "license = Apache-2.0", fmt.Sprintf("datahash = %x", sha256.Sum256(files))} {
			if !strings.Contains(settings, line+"\n") {
				t.Errorf("%s does not say %q:\n%s", name, line, settings)
			}
		}
		same(t, name, root, slices.DeleteFunc(append(about, got...), func(e entry) bool { return e.name == "PKGINFO" }), source)
		for tr := tar.NewReader(gunzip(t, bytes.NewReader(files))); ; {
			h, err := tr.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			sum := sha1.New()
			if _, err := io.Copy(sum, tr); err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("%x", sum.Sum(nil)); h.Typeflag == tar.TypeReg && h.PAXRecords["APK-TOOLS.checksum.SHA1"] != want {
				t.Errorf("%s: %s has the checksum %q, want %s", name, h.Name, h.PAXRecords["APK-TOOLS.checksum.SHA1"], want)
			}
		}
	}
}

// members splits an unsigned .apk into its two gzip members.
func members(t *testing.T, text []byte) (control, files []byte) {
	t.Helper()
	r := bytes.NewReader(text)
	z, err := gzip.NewReader(r)
	if err == nil {
		z.Multistream(false)
		_, err = io.Copy(io.Discard, z)
	}
	if err != nil {
		t.Fatal(err)
	}
	end := len(text) - r.Len()
	return text[:end], text[end:]
}

// same compares the files of an archive with the source files below root.
func same(t *testing.T, archive, root string, got []entry, source map[string]string) {
	t.Helper()
	for _, e := range got {
		from, ok := source[e.name]
		if !ok {
			t.Errorf("%s has %s, which nobody wants", archive, e.name)
			continue
		}
		if !filepath.IsAbs(from) {
			from = filepath.Join(root, from)
		}
		if !bytes.Equal(e.text, readFile(t, from)) {
			t.Errorf("%s: %s is not %s", archive, e.name, from)
		}
		delete(source, e.name)
	}
	if len(source) > 0 {
		t.Errorf("%s lacks %v", archive, slices.Sorted(maps.Keys(source)))
	}
}

// TestWheels checks that a wheel contains the source files and no others, with the same bytes. It also checks the
// tags in the metadata, which must be those in the wheel's name, and the checksum of each file.
func TestWheels(t *testing.T) {
	dist, programs := releaseFolders(t)
	for _, p := range platforms() {
		name := "edgetable-1.2.3-py3-none-" + p.wheel + ".whl"
		script, info := "edgetable", "edgetable-1.2.3.dist-info/"
		if strings.HasPrefix(p.target, "windows") {
			script += ".exe"
		}
		source := map[string]string{
			"edgetable-1.2.3.data/scripts/" + script: filepath.Join(programs, p.target, script),
			info + "licenses/LICENSE":                "LICENSE", info + "licenses/THIRD-PARTY.txt": "bin/share/THIRD-PARTY.txt",
		}
		for _, file := range list(t, "../../infra/packages/python/edgetable") {
			if file != "__pycache__" {
				source["edgetable/"+file] = "infra/packages/python/edgetable/" + file
			}
		}
		var record, want strings.Builder
		about := map[string]string{}
		copied := slices.DeleteFunc(unzip(t, readFile(t, filepath.Join(dist, name))), func(e entry) bool {
			if mode := int64(0o644); e.mode != mode && (e.mode != 0o755 || !strings.Contains(e.name, "/scripts/")) {
				t.Errorf("%s: %s has the mode %03o", name, e.name, e.mode)
			}
			if e.name == info+"RECORD" {
				record.Write(e.text)
				fmt.Fprintf(&want, "%s,,\n", e.name)
				return true
			}
			sum := sha256.Sum256(e.text)
			fmt.Fprintf(&want, "%s,sha256=%s,%d\n", e.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(e.text))
			if strings.HasPrefix(e.name, info) && !strings.Contains(e.name, "licenses") {
				about[strings.TrimPrefix(e.name, info)] = string(e.text)
				return true
			}
			return false
		})
		same(t, name, filepath.Dir(dist), copied, source)
		if record.String() != want.String() {
			t.Errorf("%s: RECORD is\n%s, want\n%s", name, &record, &want)
		}
		if m := about["METADATA"]; !strings.HasPrefix(m, "Metadata-Version: 2.4\nName: edgetable\nVersion: 1.2.3\n") || !strings.HasSuffix(m, "\n\n"+string(readFile(t, "../../infra/packages/python/README.md"))) {
			t.Errorf("%s: METADATA is\n%s", name, m)
		}
		for tag := range strings.SplitSeq(p.wheel, ".") {
			if !strings.Contains(about["WHEEL"], "Tag: py3-none-"+tag+"\n") {
				t.Errorf("%s: WHEEL lacks %s:\n%s", name, tag, about["WHEEL"])
			}
		}
		if about["entry_points.txt"] != "[pytest11]\nedgetable = edgetable.pytest_plugin\n" || len(about) != 3 {
			t.Errorf("%s: %q", name, about)
		}
	}
}
