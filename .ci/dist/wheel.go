package main

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

const pythonSource = "infra/packages/python"

// wheels writes a wheel for each platform, with the program as a script and the Python package of the test fixtures.
func (r *release) wheels() error {
	for _, t := range r.targets {
		if err := r.wheel(t); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) wheel(t target) error {
	name, version := r.config.ProjectName, pep440(r.Version)
	base := name + "-" + version
	tags := t.python()
	f, err := os.Create(filepath.Join(r.out, base+"-py3-none-"+strings.Join(tags, ".")+".whl"))
	if err != nil {
		return err
	}
	w := zip.NewWriter(f)
	write := r.zipped(w)
	var record strings.Builder
	add := func(file string, mode int64, text []byte) error {
		sum := sha256.Sum256(text)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", file, base64.RawURLEncoding.EncodeToString(sum[:]), len(text))
		return write(file, mode, text)
	}
	copied := func(file, to string, mode int64) error {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return add(to, mode, text)
	}
	err = eachFile(pythonSource+"/edgetable", func(file string) error {
		if strings.Contains(file, "__pycache__") {
			return nil
		}
		return copied(path.Join(pythonSource, "edgetable", file), "edgetable/"+file, 0o644)
	})
	wheel := "Wheel-Version: 1.0\nGenerator: edgetable dist\nRoot-Is-Purelib: false\n"
	for _, tag := range tags {
		wheel += "Tag: py3-none-" + tag + "\n"
	}
	readme, readErr := os.ReadFile(pythonSource + "/README.md")
	info := base + ".dist-info/"
	err = errors.Join(err, readErr,
		copied(t.program, base+".data/scripts/"+filepath.Base(t.program), 0o755),
		copied("LICENSE", info+"licenses/LICENSE", 0o644),
		copied("bin/share/THIRD-PARTY.txt", info+"licenses/THIRD-PARTY.txt", 0o644),
		add(info+"METADATA", 0o644, []byte("Metadata-Version: 2.4\nName: "+name+"\nVersion: "+version+
			"\nSummary: Table store that speaks the Azure Table Storage protocol: the server, and fixtures for tests"+
			"\nLicense-Expression: Apache-2.0\nLicense-File: LICENSE\nLicense-File: THIRD-PARTY.txt\nRequires-Python: >=3.9"+
			"\nClassifier: Framework :: Pytest\nDescription-Content-Type: text/markdown\n\n"+string(readme))),
		add(info+"WHEEL", 0o644, []byte(wheel)),
		add(info+"entry_points.txt", 0o644, []byte("[pytest11]\nedgetable = edgetable.pytest_plugin\n")),
		write(info+"RECORD", 0o644, []byte(record.String()+info+"RECORD,,\n")))
	return errors.Join(err, w.Close(), f.Close())
}

// pep440 converts a version to PEP 440, in which a version between two releases has the suffix .dev and a number.
func pep440(version string) string { return strings.Replace(version, "-git", ".dev", 1) }

// python returns the wheel tags of the platform. The program is static and runs on any Linux. Go 1.26 requires macOS
// 12.
func (t target) python() []string {
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64", "arm": "armv7l"}[t.arch]
	switch t.os {
	case "linux":
		return []string{"manylinux_2_17_" + machine, "manylinux2014_" + machine, "musllinux_1_1_" + machine}
	case "darwin":
		return []string{"macosx_12_0_" + strings.Replace(machine, "aarch64", "arm64", 1)}
	}
	return []string{"win_" + t.arch}
}
