package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// share fills bin/share with the files common to all platforms: manual pages, completions, licenses of the libraries,
// and package scripts.
func (r *release) share() error {
	const dir = "bin/share"
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir+"/completions", 0o755); err != nil {
		return err
	}
	if _, err := r.program("man", dir+"/man"); err != nil {
		return err
	}
	pages, err := filepath.Glob(dir + "/man/*.1")
	if err != nil {
		return err
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		if err := writeGzip(page+".gz", text); err != nil {
			return err
		}
	}
	for shell, end := range map[string]string{"bash": "bash", "fish": "fish", "zsh": "zsh", "powershell": "ps1"} {
		script, err := r.program("completion", shell)
		if err != nil {
			return err
		}
		if err := os.WriteFile(dir+"/completions/edgetable."+end, []byte(script+"\n"), 0o644); err != nil {
			return err
		}
	}
	if err := r.scripts(dir + "/scripts"); err != nil {
		return err
	}
	return r.thirdParty(dir + "/THIRD-PARTY.txt")
}

// program runs edgetable and returns its output. It runs the program that was built for this machine. If the release has
// none, it uses "go run" with the build flags of a release, so that the cached packages are used.
func (r *release) program(args ...string) (string, error) {
	for _, t := range r.targets {
		if t.os == runtime.GOOS && t.arch == runtime.GOARCH {
			return output(t.program, args...)
		}
	}
	b := r.config.Builds[0]
	run := append(append(append([]string{"env"}, b.Env...), "GOFLAGS=", "go", "run"), b.Flags...)
	return output(run[0], append(append(run[1:], b.Main), args...)...)
}

// scripts copies the package scripts with the time of the commit, because an .apk contains modification times.
func (r *release) scripts(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"postinstall", "preremove", "postremove"} {
		text, err := os.ReadFile(filepath.Join("infra/machines/package", name))
		if err != nil {
			return err
		}
		file := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(file, text, 0o755), os.Chtimes(file, r.time, r.time)); err != nil {
			return err
		}
	}
	return nil
}

func writeGzip(file string, text []byte) error {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // BestCompression is a valid level, so there is no error
	_, err := z.Write(text)
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

var licenseName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)`)

// thirdParty writes the licenses of all modules in the program, on any platform. Most licenses require that copies of
// the program include them.
func (r *release) thirdParty(file string) error {
	modules := map[string]string{} // maps each module to its directory
	for _, t := range r.targets {
		c := exec.Command("go", "list", "-deps", "-json=Module", r.config.Builds[0].Main)
		c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch)
		c.Stderr = os.Stderr
		out, err := c.Output()
		if err != nil {
			return err
		}
		for d := json.NewDecoder(bytes.NewReader(out)); ; {
			var p struct {
				Module *struct {
					Path, Version, Dir string
					Main               bool
				}
			}
			if err := d.Decode(&p); err == io.EOF {
				break
			} else if err != nil {
				return err
			}
			if p.Module != nil && !p.Module.Main {
				modules[p.Module.Path+" "+p.Module.Version] = p.Module.Dir
			}
		}
	}
	goRoot, err := output("go", "env", "GOROOT")
	if err != nil {
		return err
	}
	modules["Go's standard library"] = goRoot
	var b strings.Builder
	b.WriteString("The licenses of the libraries in the program.\n")
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		entries, err := os.ReadDir(modules[name])
		if err != nil {
			return err
		}
		found := false
		for _, e := range entries {
			if !e.Type().IsRegular() || !licenseName.MatchString(e.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(modules[name], e.Name()))
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "\n%s\n%s: %s\n%[1]s\n\n%[4]s\n", strings.Repeat("=", 80), name, e.Name(), bytes.TrimSpace(text))
			found = true
		}
		if !found {
			return fmt.Errorf("%s has no license in %s", name, modules[name])
		}
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}
