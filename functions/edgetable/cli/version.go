package cli

import (
	"fmt"
	"runtime/debug"
	"slices"
)

// Release and Commit are what 'make dist' writes into the program, by way of package main.
var Release, Commit string

// Version is what the build recorded: a release, else a module version, else the
// commit.
func Version() string {
	if Release != "" {
		return fmt.Sprintf("%s (%s)", Release, Commit)
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	if i := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "vcs.revision" }); i >= 0 {
		return "commit " + info.Settings[i].Value[:min(12, len(info.Settings[i].Value))]
	}
	return "development, " + info.GoVersion
}
