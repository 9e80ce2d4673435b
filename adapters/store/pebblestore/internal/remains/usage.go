package remains

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/datafile"
	"edgetable/adapters/store/pebblestore/internal/logguard"
	"edgetable/adapters/store/pebblestore/internal/manifest"
)

// usage says which files of a directory must be read. If the MANIFEST is damaged or one of its files is missing, all
// data files must be read.
type usage struct {
	manifest.State
	whole bool // whether the MANIFEST is completely readable, and all files that it names exist
}

type kind int

const (
	other kind = iota
	data
	log
)

// classify returns the number and the kind of a file. If the file must not be read, the kind is the constant other.
func (u usage) classify(fsys vfs.FS, dir, name string) (n uint64, k kind) {
	end := ""
	named := false
	if _, err := fmt.Sscanf(name, "%d.%s", &n, &end); err == nil {
		named = name == fmt.Sprintf("%06d.%s", n, end)
	}
	switch {
	case named && end == "sst":
		if live, known := u.Live[n]; live || !known || !u.whole { // a file that the MANIFEST never named may be newer than the MANIFEST
			return n, data
		}
		return n, other
	case named && end == "log":
		return n, log // readLog uses the log number in the content to decide whether to read the log
	case u.whole || end == "damaged":
		return 0, other
	}
	switch lower := strings.ToLower(name); {
	case strings.HasSuffix(lower, ".sst"):
		return unnamed, data
	case strings.HasSuffix(lower, ".log"):
		return unnamed, log
	case datafile.Is(fsys, fsys.PathJoin(dir, name)):
		return unnamed, data
	}
	return 0, other
}

// unnamed is used as the number of a file whose name contains no number.
const unnamed = 1 << 63

// inUse reads the MANIFEST to find the files that are in use.
func (s *Store) inUse(names []string) usage {
	u := usage{State: manifest.State{Live: map[uint64]bool{}}}
	current := currentManifest(names)
	if current == "" {
		s.problem("the MANIFEST is missing: deleted entities may reappear")
		return u
	}
	path := s.FS.PathJoin(s.Dir, current)
	records, whole, err := logguard.ReadManifest(s.FS, s.Dir, path)
	if err == nil {
		u.State, err = manifest.Read(records)
		u.whole = err == nil && len(records) > 0 && whole
	}
	if !u.whole {
		s.problem("%s cannot be read completely: deleted entities may reappear", path)
		return u
	}
	for _, n := range slices.Sorted(maps.Keys(u.Live)) {
		if !u.Live[n] {
			continue
		}
		path := s.FS.PathJoin(s.Dir, fmt.Sprintf("%06d.sst", n))
		info, err := s.FS.Stat(path)
		switch {
		case err != nil:
			s.problem("%s is missing; data that only this file contained is lost", path)
		case info.IsDir() || uint64(info.Size()) != u.Sizes[n]:
			s.problem("%s has %d bytes, but %s lists it with %d bytes", path, info.Size(), current, u.Sizes[n])
		default:
			continue
		}
		u.whole = false
	}
	return u
}

// currentManifest returns the name of the MANIFEST that Pebble's marker file names. Without a marker file, it
// returns the name of the newest MANIFEST.
func currentManifest(names []string) (current string) {
	for _, name := range names {
		if strings.HasPrefix(name, "MANIFEST-") {
			current = max(current, name)
		}
	}
	marked := ""
	for _, name := range names { // the name of a marker is marker.manifest.ITERATION.MANIFEST-…
		if p := strings.SplitN(name, ".", 4); len(p) == 4 && p[0] == "marker" && p[1] == "manifest" && name > marked {
			marked = name
			if slices.Contains(names, p[3]) {
				current = p[3]
			}
		}
	}
	return current
}
