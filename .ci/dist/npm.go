package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
)

const npmSource = "infra/packages/npm"

// npm writes the npm packages: one with the program for each platform, and the package edgetable, which has these as
// optional dependencies. A user's npm then installs only the package of the user's platform.
func (r *release) npm() error {
	main, err := readJSON(npmSource + "/package.json")
	if err != nil {
		return err
	}
	optional := map[string]string{}
	for _, t := range r.targets {
		platform := t.node()
		name := "@" + r.config.ProjectName + "/" + platform
		optional[name] = r.Version
		os, cpu, _ := strings.Cut(platform, "-")
		about := map[string]any{
			"name": name, "version": r.Version, "license": main["license"], "os": []string{os}, "cpu": []string{cpu},
			"description": "The program of the package edgetable for " + platform,
		}
		files := map[string]string{filepath.Base(t.program): t.program, "LICENSE": "LICENSE", "THIRD-PARTY.txt": "bin/share/THIRD-PARTY.txt"}
		if err := r.npmPackage(r.config.ProjectName+"-"+platform, about, files); err != nil {
			return err
		}
	}
	main["version"], main["optionalDependencies"] = r.Version, optional
	files := map[string]string{"LICENSE": "LICENSE"}
	err = eachFile(npmSource, func(name string) error {
		if name != "package.json" {
			files[name] = path.Join(npmSource, name)
		}
		return nil
	})
	return errors.Join(err, r.npmPackage(r.config.ProjectName, main, files))
}

// npmPackage writes a package in the format of "npm pack". The keys of files are paths in the package, and the values
// are paths of source files.
func (r *release) npmPackage(name string, about map[string]any, files map[string]string) error {
	text, err := json.MarshalIndent(about, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(r.out, name+"-"+r.Version+".tgz"))
	if err != nil {
		return err
	}
	z, _ := gzip.NewWriterLevel(f, gzip.BestCompression) // BestCompression is a valid level, so there is no error
	w := tar.NewWriter(z)
	add := r.tarred(w)
	err = add("package/package.json", 0o644, append(text, '\n'))
	for _, file := range sorted(files) {
		text, readErr := os.ReadFile(files[file])
		err = errors.Join(err, readErr)
		if err == nil {
			err = add("package/"+file, modeOf(file), text)
		}
	}
	return errors.Join(err, w.Close(), z.Close(), f.Close())
}

// node returns the name that Node.js uses for the platform.
func (t target) node() string {
	name := func(of map[string]string, goName string) string {
		if n, ok := of[goName]; ok {
			return n
		}
		return goName
	}
	return name(map[string]string{"windows": "win32"}, t.os) + "-" + name(map[string]string{"amd64": "x64"}, t.arch)
}

func modeOf(name string) int64 {
	if strings.HasPrefix(filepath.Base(name), "edgetable") {
		return 0o755
	}
	return 0o644
}

func readJSON(file string) (map[string]any, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var v map[string]any
	return v, json.Unmarshal(text, &v)
}
