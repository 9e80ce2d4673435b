package main

import (
	"io/fs"
	"maps"
	"os"
	"slices"
)

// eachFile calls do with the slash-separated relative path of each file below dir, in order.
func eachFile(dir string, do func(name string) error) error {
	return fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		return do(name)
	})
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
