package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"text/template"
	"time"
)

// release is the input of a build.
type release struct {
	Version    string // version without the v of the tag
	FullCommit string
	IsGitDirty bool      // true if a file differs from the commit
	time       time.Time // time of the commit, used for all files

	config  config
	targets []target
	out     string // output directory
	source  string // URL of the repository, or ""
	url     string // URL at which the output directory is published, or ""
}

// newRelease reads the version, the commit and its time from git, or from the flag -release.
func newRelease(given string) (*release, error) {
	r := &release{out: "dist"}
	var seconds string
	if given != "" {
		parts := strings.Split(given, ",")
		if len(parts) != 3 {
			return nil, fmt.Errorf("-release is version,commit,unix-time, not %q", given)
		}
		r.Version, r.FullCommit, seconds = parts[0], parts[1], parts[2]
	} else {
		var err error
		if seconds, err = output("git", "log", "-1", "--format=%ct"); err != nil {
			return nil, err
		}
		if r.FullCommit, err = output("git", "rev-parse", "HEAD"); err != nil {
			return nil, err
		}
		changed, err := output("git", "status", "--porcelain")
		if err != nil {
			return nil, err
		}
		r.IsGitDirty = changed != ""
		// The version of a tagged commit is its tag. The version of any other commit sorts before the next release.
		last, err := output("git", "describe", "--tags", "--match=v[0-9]*")
		if err != nil {
			last = "v0.0.0-0-g0" // the repository has no tag yet
		}
		if r.Version, err = versionOf(strings.TrimPrefix(last, "v"), seconds); err != nil {
			return nil, err
		}
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return nil, err
	}
	r.time = time.Unix(n, 0).UTC()
	return r, os.Setenv("SOURCE_DATE_EPOCH", seconds) // nfpm reads this variable
}

// versionOf converts the output of git describe to a version. For a commit after v1.2.3, the result is
// 1.2.4-gitSECONDS, which sorts before 1.2.4 in .deb, .rpm and .apk.
func versionOf(described, seconds string) (string, error) {
	tag, _, after := strings.Cut(described, "-")
	if !after {
		return tag, nil
	}
	var major, minor, patch int
	if _, err := fmt.Sscanf(tag, "%d.%d.%d", &major, &minor, &patch); err != nil {
		return "", fmt.Errorf("tag v%s is no version such as v1.2.3", tag)
	}
	return fmt.Sprintf("%d.%d.%d-git%s", major, minor, patch+1, seconds), nil
}

// names are the values for templates in .goreleaser.yaml.
type names struct {
	*release
	ProjectName, Os, Arch, Arm string
	ConventionalFileName       string
	CommitDate                 string
}

func (r *release) expand(text string, t target, conventional string) (string, error) {
	parsed, err := template.New("").Option("missingkey=error").Parse(text)
	if err != nil {
		return "", fmt.Errorf(".goreleaser.yaml: %w", err)
	}
	var b strings.Builder
	err = parsed.Execute(&b, names{
		release: r, ProjectName: r.config.ProjectName, Os: t.os, Arch: t.arch, Arm: t.arm,
		ConventionalFileName: conventional, CommitDate: r.time.Format(time.RFC3339),
	})
	if err != nil {
		return "", fmt.Errorf(".goreleaser.yaml: %w", err)
	}
	return b.String(), nil
}

// output returns the output of a command without the final newline.
func output(name string, args ...string) (string, error) {
	var failed strings.Builder
	c := exec.Command(name, args...)
	c.Stderr = &failed
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %s", strings.Join(c.Args, " "), cmp.Or(strings.TrimSpace(failed.String()), err.Error()))
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}
