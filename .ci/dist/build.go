package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// build makes the programs in bin/dist, static and without symbols.
func (r *release) build(only string) error {
	b := r.config.Builds[0]
	for _, text := range b.Targets {
		t := parseTarget(text)
		if only != "" && only != t.name() {
			continue
		}
		t.program = filepath.Join("bin/dist", t.name(), b.Binary)
		if t.os == "windows" {
			t.program += ".exe"
		}
		args := append([]string{"build", "-o", t.program}, b.Flags...)
		for _, flags := range b.Ldflags {
			flags, err := r.expand(flags, t, "")
			if err != nil {
				return err
			}
			args = append(args, "-ldflags="+flags)
		}
		c := exec.Command("go", append(args, b.Main)...)
		c.Env = append(os.Environ(), "GOFLAGS=", "GOTOOLCHAIN=local", "GOAMD64=v1", "GOARM64=v8.0",
			"GOOS="+t.os, "GOARCH="+t.arch, "GOARM="+cmp.Or(t.arm, "7"))
		c.Env = append(c.Env, b.Env...)
		c.Stderr = os.Stderr
		if err := c.Run(); err != nil {
			return fmt.Errorf("%s: %w", t.name(), err)
		}
		r.targets = append(r.targets, t)
	}
	if len(r.targets) == 0 {
		return fmt.Errorf("-only %s is not among %v", only, b.Targets)
	}
	return nil
}
