package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// TestLifecycle installs, uses, upgrades, removes and reinstalls the .deb and the .rpm under a
// separate systemd.
func TestLifecycle(t *testing.T) {
	if os.Geteuid() != 0 || exec.Command("unshare", "--mount", "--pid", "--fork", "true").Run() != nil {
		t.Skip("to install packages, root and namespaces are needed")
	}
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH] // the name of the architecture in RPM
	for _, p := range []struct{ format, file, installer string }{
		{"deb", "edgetable_1.2.3_" + runtime.GOARCH + ".deb", "/usr/bin/dpkg"},
		{"rpm", "edgetable-1.2.3-1." + machine + ".rpm", "/usr/bin/rpm"},
	} {
		t.Run(p.format, func(t *testing.T) {
			if p.format == "rpm" {
				skipUnlessWeekly(t)
			}
			for _, program := range []string{p.installer, "/usr/bin/dpkg", "/lib/systemd/systemd", "/usr/sbin/ip"} {
				if _, err := os.Stat(program); err != nil {
					t.Skip("to install the package, Debian with systemd is needed: ", err)
				}
			}
			lifecycle(t, p.format, p.file)
		})
	}
}

// lifecycle installs an older package of the format and then upgrades it to the package of the release.
func lifecycle(t *testing.T, format, file string) {
	dist, programs := releaseFolders(t)
	dir := t.TempDir()
	root, err := filepath.Abs(filepath.Join(dist, ".."))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(dist, file), dir+"/new."+format); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	old := release{Version: "1.2.3-git1", out: dir + "/made"}
	if err := old.config.read(".goreleaser.yaml"); err != nil {
		t.Fatal(err)
	}
	name := "linux_" + runtime.GOARCH
	target := parseTarget(name)
	target.program = filepath.Join(programs, name, "edgetable")
	if err := os.Mkdir(old.out, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := old.pack(target, format); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(old.out, list(t, old.out)[0]), dir+"/old."+format); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(here+"/testdata/boot", dir, here+"/testdata/lifecycle").CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}
