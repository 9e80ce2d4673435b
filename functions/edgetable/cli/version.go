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

// Release and Commit are set by 'make dist', through package main.
var Release, Commit string

// Version returns the release and the commit of this program.
func Version() string {
	release, commit := Built()
	if commit == "" {
		return release
	}
	return fmt.Sprintf("%s (%s)", release, commit)
}

// Built returns the release and the commit of this program, as recorded by 'make dist' or by Go.
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

// pseudo matches Go's version of a commit without a tag: the last release with the next patch number, or 0.0.0, then
// the time.
var pseudo = regexp.MustCompile(`^(\d+\.\d+\.)(\d+)-(0\.)?(\d{14})-[0-9a-f]{12}$`)

// releaseOf converts Go's version to that of 'make dist': the tag, or, for a commit without a tag, the next release
// with the commit's time.
func releaseOf(module string) string {
	version, _, _ := strings.Cut(strings.TrimPrefix(module, "v"), "+") // a suffix after + says that the files differ from the commit
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
	if m[3] == "" { // without an earlier tag
		patch++
	}
	return fmt.Sprintf("%s%d-git%d", m[1], patch, at.Unix())
}
