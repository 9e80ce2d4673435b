package main

import (
	"io/fs"
	"maps"
	"os"
	"slices"
)

// eachFile passes the path of each regular file below dir to the callback, in order. The paths are relative to dir and
// use slashes.
func eachFile(dir string, do func(name string) error) error {
	return fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		return do(name)
	})
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
