package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// boms writes an SBOM for each program, from the modules that Go recorded in it.
func (r *release) boms() error {
	c := r.config.SBOMs[0]
	for _, t := range r.targets {
		document, err := r.expand(c.Documents[0], t, "")
		if err != nil {
			return err
		}
		program, err := filepath.Abs(t.program)
		if err != nil {
			return err
		}
		var args []string
		for _, arg := range c.Args {
			if arg, err = r.expand(arg, t, ""); err != nil {
				return err
			}
			args = append(args, strings.NewReplacer("${document}", document, "${artifact}", program).Replace(arg))
		}
		bom := exec.Command("go", args...)
		bom.Dir = r.out // GoReleaser uses this directory too
		bom.Env = append(os.Environ(), "GOFLAGS=")
		if out, err := bom.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", bom, err, out)
		}
	}
	return nil
}

func (r *release) sums() error {
	found, err := filepath.Glob(r.out + "/*")
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, file := range found {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(text), filepath.Base(file))
	}
	return os.WriteFile(r.out+"/SHA256SUMS", []byte(b.String()), 0o644)
}
