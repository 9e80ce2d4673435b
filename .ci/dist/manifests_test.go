package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestManifests checks that the manifests for Homebrew, Scoop and winget contain the URLs of the
// archives and their checksums.
func TestManifests(t *testing.T) {
	dist, _ := releaseFolders(t)
	sum := func(file string) string {
		return fmt.Sprintf("%x", sha256.Sum256(readFile(t, filepath.Join(dist, file))))
	}
	url := "file://" + dist + "/"

	formula := string(readFile(t, dist+"/edgetable.rb"))
	found := regexp.MustCompile(`url "(.*)"\n +sha256 "(.*)"`).FindAllStringSubmatch(formula, -1)
	systems := slices.DeleteFunc(platforms(), func(p platform) bool { return p.npm == "win32-x64" || p.npm == "linux-arm" }) // platforms that Homebrew does not support
	if len(found) != len(systems) {
		t.Fatalf("the formula has %d archives:\n%s", len(found), formula)
	}
	for _, m := range found {
		file, ok := strings.CutPrefix(m[1], url)
		if !ok || m[2] != sum(file) {
			t.Errorf("the formula says %s has checksum %s", m[1], m[2])
		}
	}
	if !strings.Contains(formula, "\n  homepage \"https://example.com/edgetable\"\n") {
		t.Errorf("the formula does not name the repository:\n%s", formula)
	}
	if ruby, err := exec.LookPath("ruby"); err == nil {
		if out, err := exec.Command(ruby, "-c", dist+"/edgetable.rb").CombinedOutput(); err != nil {
			t.Errorf("the formula: %s", out)
		}
	}

	if !*allPlatforms {
		return // only releases for Windows have manifests for Scoop and winget
	}
	const archive = "edgetable_1.2.3_windows_amd64"
	var scoop struct {
		Version, Bin string
		Architecture map[string]struct {
			URL, Hash, Dir string
			ExtractDir     string `json:"extract_dir"`
		}
	}
	if err := json.Unmarshal(readFile(t, dist+"/edgetable.scoop.json"), &scoop); err != nil {
		t.Fatal(err)
	}
	if a := scoop.Architecture["64bit"]; scoop.Version != version || scoop.Bin != "edgetable.exe" || a.URL != url+archive+".zip" || a.Hash != sum(archive+".zip") || a.ExtractDir != archive {
		t.Errorf("scoop: %+v", scoop)
	}

	var winget struct {
		PackageVersion       string
		NestedInstallerFiles []struct{ RelativeFilePath string }
		Installers           []struct{ InstallerUrl, InstallerSha256 string }
	}
	var raw map[string]any
	text := readFile(t, dist+"/edgetable.winget.yaml")
	if err := yaml.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	again, _ := json.Marshal(raw) // package yaml expects field names in lower case, and encoding/json ignores their case
	if err := json.Unmarshal(again, &winget); err != nil {
		t.Fatal(err)
	}
	if len(winget.Installers) != 1 || winget.PackageVersion != version || winget.Installers[0].InstallerUrl != url+archive+".zip" ||
		winget.Installers[0].InstallerSha256 != strings.ToUpper(sum(archive+".zip")) || winget.NestedInstallerFiles[0].RelativeFilePath != archive+`\edgetable.exe` {
		t.Errorf("winget: %s", text)
	}
}
