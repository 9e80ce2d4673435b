package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/files"
	"go.yaml.in/yaml/v3"
)

// config is the part of .goreleaser.yaml that describes the files. Importing GoReleaser would add a thousand modules.
type config struct {
	ProjectName string `yaml:"project_name"`
	Builds      []struct {
		Main, Binary                 string
		Env, Flags, Ldflags, Targets []string
	}
	Archives []struct {
		NameTemplate    string `yaml:"name_template"`
		Formats         []string
		FormatOverrides []struct {
			Goos    string
			Formats []string
		} `yaml:"format_overrides"`
		Files []archiveFile
	}
	Nfpms []struct {
		PackageName string `yaml:"package_name"`
		Formats     []string
		Vendor      string
		Maintainer  string
		Description string
		License     string
		Section     string
		Bindir      string
		Scripts     nfpm.Scripts
		Deb         nfpm.Deb
		RPM         nfpm.RPM
		APK         nfpm.APK
		Contents    files.Contents
	}
	SBOMs []struct {
		Documents, Args []string
	}
}

// archiveFile is an entry in the list of files of an archive: a file, or a glob pattern with a destination directory.
type archiveFile struct{ Src, Dst string }

func (f *archiveFile) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&f.Src)
	}
	type plain archiveFile
	return n.Decode((*plain)(f))
}

func (c *config) read(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := yaml.Unmarshal(text, c); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if len(c.Builds) != 1 || len(c.Archives) != 1 || len(c.Nfpms) != 1 || len(c.SBOMs) != 1 {
		return fmt.Errorf("%s: one build, archive, package and SBOM are known here", file)
	}
	return nil
}

type target struct {
	os, arch, arm string
	program       string // path of the built program
}

func parseTarget(text string) target {
	parts := append(strings.Split(text, "_"), "")
	return target{os: parts[0], arch: parts[1], arm: parts[2]}
}

// name returns the name of the target in .goreleaser.yaml, such as linux_arm_7.
func (t target) name() string { return strings.TrimSuffix(t.os+"_"+t.arch+"_"+t.arm, "_") }

// variant returns the CPU variant for an image manifest, such as "v7". It returns "" if the target has no variant.
func (t target) variant() string {
	if t.arm == "" {
		return ""
	}
	return "v" + t.arm
}

func (c *config) format(t target) string {
	for _, o := range c.Archives[0].FormatOverrides {
		if o.Goos == t.os {
			return o.Formats[0]
		}
	}
	return c.Archives[0].Formats[0]
}
