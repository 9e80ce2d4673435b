package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// manifests writes the manifests for Homebrew, Scoop and winget. Without a release URL, they refer to the local
// archives, for tests.
func (r *release) manifests() error {
	if r.url == "" {
		dir, err := filepath.Abs(r.out)
		if err != nil {
			return err
		}
		r.url = "file://" + filepath.ToSlash(dir)
	}
	archives := map[string]archived{}
	for _, t := range r.targets {
		name, err := r.expand(r.config.Archives[0].NameTemplate, t, "")
		if err != nil {
			return err
		}
		file := name + "." + r.config.format(t)
		text, err := os.ReadFile(filepath.Join(r.out, file))
		if err != nil {
			return err
		}
		archives[t.os+"/"+t.arch] = archived{URL: r.url + "/" + file, Sum: fmt.Sprintf("%x", sha256.Sum256(text)), dir: name}
	}
	write := func(name, text string) error {
		return os.WriteFile(filepath.Join(r.out, name), []byte(text), 0o644)
	}
	if err := write("edgetable.rb", r.formula(archives)); err != nil {
		return err
	}
	windows, ok := archives["windows/amd64"]
	if !ok {
		return nil
	}
	scoop, err := json.MarshalIndent(map[string]any{
		"version": r.Version, "description": summary, "license": "Apache-2.0", "homepage": r.homepage(),
		"architecture": map[string]any{"64bit": map[string]string{"url": windows.URL, "hash": windows.Sum, "extract_dir": windows.dir}},
		"bin":          "edgetable.exe",
	}, "", "  ")
	if err != nil {
		return err
	}
	if err := write("edgetable.scoop.json", string(scoop)+"\n"); err != nil {
		return err
	}
	return write("edgetable.winget.yaml", r.winget(windows))
}

const summary = "Table store that speaks the Azure Table Storage protocol"

// archived describes an archive for a manifest: its URL, its checksum, and the name of the directory inside it.
type archived struct{ URL, Sum, dir string }

// homepage returns the URL of the repository. If it is unknown, homepage returns the host of the release URL, or ""
// without a release URL.
func (r *release) homepage() string {
	scheme, rest, _ := strings.Cut(r.url, "://")
	if r.source != "" || scheme == "file" {
		return r.source
	}
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}

func (r *release) formula(archives map[string]archived) string {
	var b strings.Builder
	fmt.Fprintf(&b, "class Edgetable < Formula\n  desc %q\n", summary)
	if page := r.homepage(); page != "" {
		fmt.Fprintf(&b, "  homepage %q\n", page)
	}
	fmt.Fprintf(&b, "  version %q\n  license \"Apache-2.0\"\n", r.Version)
	for _, system := range []struct{ brew, goos string }{{"macos", "darwin"}, {"linux", "linux"}} {
		fmt.Fprintf(&b, "\n  on_%s do\n", system.brew)
		for _, cpu := range []struct{ brew, goarch string }{{"arm", "arm64"}, {"intel", "amd64"}} {
			if a, ok := archives[system.goos+"/"+cpu.goarch]; ok {
				fmt.Fprintf(&b, "    on_%s do\n      url %q\n      sha256 %q\n    end\n", cpu.brew, a.URL, a.Sum)
			}
		}
		b.WriteString("  end\n")
	}
	b.WriteString(`
  def install
    bin.install "edgetable"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/edgetable.bash" => "edgetable"
    zsh_completion.install "completions/edgetable.zsh" => "_edgetable"
    fish_completion.install "completions/edgetable.fish"
  end

  service do
    run [opt_bin/"edgetable", "serve", "--data", var/"edgetable"]
    keep_alive true
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/edgetable version")
  end
end
`)
	return b.String()
}

// winget returns the manifest for winget, in its format with a single file.
func (r *release) winget(a archived) string {
	return fmt.Sprintf(`PackageIdentifier: edgetable.edgetable
PackageVersion: %s
PackageLocale: en-US
Publisher: edgetable
PackageName: edgetable
License: Apache-2.0
ShortDescription: %s
InstallerType: zip
NestedInstallerType: portable
NestedInstallerFiles:
  - RelativeFilePath: %s\edgetable.exe
    PortableCommandAlias: edgetable
Installers:
  - Architecture: x64
    InstallerUrl: %s
    InstallerSha256: %s
ManifestType: singleton
ManifestVersion: 1.6.0
`, r.Version, summary, a.dir, a.URL, strings.ToUpper(a.Sum))
}
