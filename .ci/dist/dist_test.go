package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The version, commit and time of the release that the tests make.
const (
	version = "1.2.3"
	given   = version + ",0123456789abcdef0123456789abcdef01234567,1700000000"
)

// sources lists the source files of a release.
var sources = []string{
	"*.go", "*.s", "go.mod", "go.sum", "README.md", "CHANGELOG.md", "LICENSE", ".goreleaser.yaml", ".ci/dist", "infra/machines/package",
	"functions", "core", "adapters", "infra/packages",
}

// build copies the sources to dir and makes a release there. An empty list of targets means all targets.
func build(dir string, targets []string, environment ...string) error {
	files, err := exec.Command("git", append([]string{"-C", "../..", "ls-files", "-z", "-co", "--exclude-standard"}, sources...)...).Output()
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(files), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if name == ".goreleaser.yaml" && targets != nil {
			text = regexp.MustCompile(`targets: .*`).ReplaceAll(text, []byte("targets: ["+strings.Join(targets, ", ")+"]"))
		}
		if !*allPlatforms {
			text = useFastCompression(name, text)
		}
		if err == nil {
			err = os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o666)
		}
		if err != nil {
			return err
		}
	}
	c := exec.Command("go", "run", ".", "-release", given, "-source", "https://example.com/edgetable")
	c.Dir = filepath.Join(dir, ".ci/dist")
	c.Env = append(os.Environ(), environment...)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// useFastCompression changes a source file so that a release is compressed quickly. The best compression takes
// seconds for each file, and only the tests of file sizes need it.
func useFastCompression(name string, text []byte) []byte {
	if name == ".goreleaser.yaml" {
		return bytes.Replace(text, []byte("    rpm:\n"), []byte("    deb:\n      compression: gzip:1\n    rpm:\n      compression: gzip:1\n"), 1)
	}
	if filepath.Dir(name) == ".ci/dist" {
		return bytes.ReplaceAll(text, []byte("gzip.BestCompression"), []byte("gzip.BestSpeed"))
	}
	return text
}

// allPlatforms makes the tests build the release for all platforms, with the best compression. Without it they build
// for this machine only: with an empty cache, compiling for another platform takes minutes.
var allPlatforms = flag.Bool("all", false, "make the files of all platforms")

// platform holds the names that the files of a release use for a target.
type platform struct {
	target            string // name of the target in .goreleaser.yaml
	archive           string
	deb, rpm, apk     string // the architecture in each package format's spelling
	image, npm, wheel string
	loadable          string // the part of the image's file name that names the platform
	nuget             string
}

// platforms returns the platforms for which the tests make a release.
func platforms() (list []platform) {
	for _, p := range []platform{
		{"linux_amd64", "linux_amd64.tar.gz", "amd64", "x86_64", "x86_64", "linux/amd64", "linux-x64", "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64", "amd64", "linux-x64"},
		{"linux_arm64", "linux_arm64.tar.gz", "arm64", "aarch64", "aarch64", "linux/arm64", "linux-arm64", "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64", "arm64", "linux-arm64"},
		{"linux_arm_7", "linux_armv7.tar.gz", "armhf", "armv7hl", "armv7", "linux/arm/v7", "linux-arm", "manylinux_2_17_armv7l.manylinux2014_armv7l.musllinux_1_1_armv7l", "armv7", "linux-arm"},
		{"darwin_amd64", "darwin_amd64.tar.gz", "", "", "", "", "darwin-x64", "macosx_12_0_x86_64", "", "osx-x64"},
		{"darwin_arm64", "darwin_arm64.tar.gz", "", "", "", "", "darwin-arm64", "macosx_12_0_arm64", "", "osx-arm64"},
		{"windows_amd64", "windows_amd64.zip", "", "", "", "", "win32-x64", "win_amd64", "", "win-x64"},
	} {
		if *allPlatforms || p.target == host {
			list = append(list, p)
		}
	}
	return list
}

// linuxes returns the platforms for which there are packages and an image.
func linuxes() []platform {
	return slices.DeleteFunc(platforms(), func(p platform) bool { return p.deb == "" })
}

const host = "linux_" + runtime.GOARCH

// namesOf returns one name of each platform. It leaves out empty names.
func namesOf(list []platform, name func(p platform) string) (mapped []string) {
	for _, p := range list {
		mapped = append(mapped, name(p))
	}
	return mapped
}

// makeReleaseOnce makes a release in a new directory, once for all tests, and returns the directory.
var makeReleaseOnce = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "edgetable-dist-*")
	if err != nil {
		return "", err
	}
	releaseFolder = dir
	return dir, build(dir, namesOf(platforms(), func(p platform) string { return p.target }))
})

// releaseFolder is the directory that makeReleaseOnce created, or "".
var releaseFolder string

func TestMain(m *testing.M) {
	flag.Parse()
	status := m.Run()
	if releaseFolder != "" {
		_ = os.RemoveAll(releaseFolder)
	}
	os.Exit(status)
}

// releaseFolders returns the directory of the release's files and the directory of the built programs.
func releaseFolders(t *testing.T) (dist, programs string) {
	t.Helper()
	dir, err := makeReleaseOnce()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "dist"), filepath.Join(dir, "bin/dist")
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// list returns the names of the files in a directory.
func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestFiles checks that a release has exactly the expected files, and that SHA256SUMS has their checksums.
func TestFiles(t *testing.T) {
	dist, _ := releaseFolders(t)
	want := []string{"SHA256SUMS", "edgetable_1.2.3_oci.tar", "edgetable.rb", "edgetable-1.2.3.tgz", "edgetable.1.2.3.nupkg"}
	if *allPlatforms {
		want = append(want, "edgetable.scoop.json", "edgetable.winget.yaml") // the manifests for Windows
	}
	for _, p := range platforms() {
		name, _, _ := strings.Cut(p.archive, ".")
		want = append(want, "edgetable-"+p.npm+"-1.2.3.tgz", "edgetable-1.2.3-py3-none-"+p.wheel+".whl", "edgetable_1.2.3_"+p.archive, "edgetable_1.2.3_"+name+".cdx.json", "edgetable."+p.nuget+".1.2.3.nupkg")
	}
	for _, p := range linuxes() {
		want = append(want, "edgetable_1.2.3_"+p.deb+".deb", "edgetable-1.2.3-1."+p.rpm+".rpm", "edgetable_1.2.3_"+p.apk+".apk", "edgetable_1.2.3_"+p.loadable+"_image.tar")
	}
	slices.Sort(want)
	if got := list(t, dist); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	var sums strings.Builder
	for _, name := range want {
		if name == "SHA256SUMS" {
			continue
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(readFile(t, filepath.Join(dist, name))), name)
	}
	if got := string(readFile(t, dist+"/SHA256SUMS")); got != sums.String() {
		t.Errorf("SHA256SUMS:\n%s, want\n%s", got, sums.String())
	}
}

// TestSameBytes builds a part of the release again in another directory, and checks that its files have the same
// bytes. The part has at least one file of each kind.
func TestSameBytes(t *testing.T) {
	dist, _ := releaseFolders(t)
	dir := filepath.Join(t.TempDir(), "another place")
	err := build(dir, []string{host, "windows_amd64"}, "TZ=Asia/Kathmandu", "LANG=de_DE.UTF-8", "HOME="+os.Getenv("HOME"))
	if err != nil {
		t.Fatal(err)
	}
	again := list(t, filepath.Join(dir, "dist"))
	if len(again) != 2*5+2+3+3+3 { // 2 × (archive, SBOM, npm, wheel, NuGet), the npm and NuGet packages edgetable, .deb .rpm .apk, manifests, image + index + SHA256SUMS
		t.Errorf("made again: %q", again)
	}
	const image = "edgetable_1.2.3_oci.tar"
	for _, name := range again {
		switch name {
		case image, "SHA256SUMS", "edgetable-1.2.3.tgz", "edgetable.1.2.3.nupkg", "edgetable.rb", "edgetable.scoop.json", "edgetable.winget.yaml":
			continue // files that may differ, because they depend on the set of platforms or contain the path of the release's folder
		}
		if !bytes.Equal(readFile(t, filepath.Join(dist, name)), readFile(t, filepath.Join(dir, "dist", name))) {
			t.Errorf("%s differs", name)
		}
	}
	one, err := readImage(t, filepath.Join(dist, image), imagePlatforms()...).Digest()
	if err != nil {
		t.Fatal(err)
	}
	other, err := readImage(t, filepath.Join(dir, "dist", image), "linux/"+runtime.GOARCH).Digest()
	if err != nil || one != other {
		t.Errorf("the image is %v and made again %v, %v", one, other, err)
	}
}

// maxProgram is the maximum size of a program without symbols, in bytes. If every program is a fifth larger,
// something uses <ReflectMethod>, and so the linker no longer removes unused methods. The output of 'go build
// -ldflags=-dumpdep' shows what uses it.
const maxProgram = 42e6

func TestPrograms(t *testing.T) {
	dist, programs := releaseFolders(t)
	dir, _ := makeReleaseOnce()
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range list(t, programs) {
		file := filepath.Join(programs, target, "edgetable")
		if strings.HasPrefix(target, "windows") {
			file += ".exe"
		}
		program := readFile(t, file)
		t.Logf("%s: %.1f MB", target, float64(len(program))/1e6)
		if len(program) > maxProgram {
			t.Errorf("%s has %d bytes; at most %d are wanted", target, len(program), int(maxProgram))
		}
		for _, place := range []string{dir, strings.TrimSpace(string(goroot)), os.Getenv("HOME") + "/"} {
			if place != "/" && bytes.Contains(program, []byte(place)) {
				t.Errorf("%s contains %s, a path of this machine", target, place)
			}
		}
		if strings.HasPrefix(target, "linux") {
			e, err := elf.NewFile(bytes.NewReader(program))
			if err != nil {
				t.Fatal(err)
			}
			if libraries, err := e.ImportedLibraries(); err != nil || len(libraries) > 0 || e.Section(".interp") != nil {
				t.Errorf("%s is not static: %q, %v", target, libraries, err)
			}
			if _, err := e.Symbols(); !errors.Is(err, elf.ErrNoSymbols) {
				t.Errorf("%s has symbols: %v", target, err)
			}
		}
		inSBOM(t, filepath.Join(dist, "edgetable_1.2.3_"+strings.Replace(target, "arm_7", "armv7", 1)+".cdx.json"), file)
	}
	host := filepath.Join(programs, runtime.GOOS+"_"+runtime.GOARCH, "edgetable")
	out, err := exec.Command(host, "version").CombinedOutput()
	if want := "edgetable version 1.2.3 (0123456789ab)\n"; err != nil || string(out) != want {
		t.Errorf("version: %q, %v; want %q", out, err, want)
	}
}

// inSBOM checks that the SBOM of a program lists the modules that Go recorded in the program.
func inSBOM(t *testing.T, file, program string) {
	t.Helper()
	var bom struct {
		BOMFormat string
		Metadata  struct {
			Component struct{ Name, Version string }
		}
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal(readFile(t, file), &bom); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if c := bom.Metadata.Component; bom.BOMFormat != "CycloneDX" || c.Name != "edgetable" || c.Version != version {
		t.Errorf("%s is a %s of %s %s", file, bom.BOMFormat, c.Name, c.Version)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]string{}
	for _, c := range bom.Components {
		has[c.Name] = c.Version
	}
	for _, m := range info.Deps {
		if has[m.Path] != m.Version {
			t.Errorf("%s has %s %q, the program %s", file, m.Path, has[m.Path], m.Version)
		}
	}
	if has["std"] != info.GoVersion {
		t.Errorf("%s has Go %q, the program %s", file, has["std"], info.GoVersion)
	}
}

// TestTargets checks the error for an unknown target. The error must list the known targets in the form in which
// users write them.
func TestTargets(t *testing.T) {
	var r release
	if err := yaml.Unmarshal([]byte("builds: [{targets: [linux_amd64, linux_arm_7]}]"), &r.config); err != nil {
		t.Fatal(err)
	}
	err := r.build("linux/amd65")
	if want := "there is no target linux/amd65: the targets are linux/amd64, linux/arm/7"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestVersionOf(t *testing.T) {
	for described, want := range map[string]string{
		"1.2.3":              "1.2.3",
		"1.2.3-14-gabcdef":   "1.2.4-git99",
		"0.0.0-0-g0":         "0.0.1-git99",
		"2.0.0-rc1-3-gabcde": "2.0.1-git99",
	} {
		if got, err := versionOf(described, "99"); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", described, got, err, want)
		}
	}
	if got, err := versionOf("next-14-gabcdef", "99"); err == nil {
		t.Errorf("a tag that is no version gives %q", got)
	}
}
