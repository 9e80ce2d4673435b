package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func (r *release) build(only string) error {
	b := r.config.Builds[0]
	wanted := strings.FieldsFunc(strings.ReplaceAll(only, "/", "_"), func(c rune) bool { return c == ',' || c == ' ' })
	for _, name := range wanted {
		if !slices.Contains(b.Targets, name) {
			return fmt.Errorf("there is no target %s: the targets are %s", strings.ReplaceAll(name, "_", "/"), strings.ReplaceAll(strings.Join(b.Targets, ", "), "_", "/"))
		}
	}
	for _, text := range b.Targets {
		t := parseTarget(text)
		if len(wanted) > 0 && !slices.Contains(wanted, t.name()) {
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
		if err := r.step("program for "+t.name(), c.Run); err != nil {
			return fmt.Errorf("%s: %w", t.name(), err)
		}
		r.targets = append(r.targets, t)
	}
	return nil
}
