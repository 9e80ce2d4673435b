package cli

import (
	"cmp"
	"fmt"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// Release and Commit are set by "make dist", through package main.
var Release, Commit string

// Version returns the release and the commit of this program as text.
func Version() string {
	release, commit := Built()
	if commit == "" {
		return release
	}
	return fmt.Sprintf("%s (%s)", release, commit)
}

// Built returns the release and the commit of this program, as recorded by "make dist" or by Go.
func Built() (release, commit string) {
	if Release != "" {
		return Release, Commit
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown", ""
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	commit = settings["vcs.revision"]
	commit = commit[:min(12, len(commit))]
	if settings["vcs.modified"] == "true" {
		commit += "-dirty"
	}
	return releaseOf(info.Main.Version), commit
}

// pseudo matches a Go pseudo-version, which contains the next patch number after the last release, or 0.0.0, and the
// time of the commit.
var pseudo = regexp.MustCompile(`^(\d+\.\d+\.)(\d+)-(0\.)?(\d{14})-[0-9a-f]{12}$`)

// releaseOf converts a Go module version to the form of "make dist". This is the tag. For a commit without a tag, it is
// the next release and the time of the commit.
func releaseOf(module string) string {
	version, _, _ := strings.Cut(strings.TrimPrefix(module, "v"), "+") // a suffix such as +dirty marks uncommitted changes
	m := pseudo.FindStringSubmatch(version)
	if m == nil {
		return cmp.Or(strings.Trim(version, "()"), "devel")
	}
	at, err := time.Parse("20060102150405", m[4])
	if err != nil {
		return version
	}
	patch, err := strconv.Atoi(m[2])
	if err != nil {
		return version
	}
	if m[3] == "" { // the module has no earlier tag
		patch++
	}
	return fmt.Sprintf("%s%d-git%d", m[1], patch, at.Unix())
}
