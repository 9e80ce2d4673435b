package pebblestore

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/datafile"
	"edgetable/adapters/store/pebblestore/internal/logfile"
	"edgetable/adapters/store/pebblestore/internal/manifest"
)

// remains is a store read file by file, without Pebble's help, so that a file that Pebble
// needs to open the store may be damaged or missing. In an undamaged directory it has
// what the store has.
type remains struct {
	fs        vfs.FS
	dir       string
	copied    copied
	files     []*remainingFile
	merge     *merge
	deletions deletions
	found     []string // problems
}

// remainingFile is a data file that is in use.
type remainingFile struct {
	path   string
	data   *datafile.File
	cursor *datafile.Cursor
}

// openRemains finds and opens the files that are in use.
func openRemains(o Options) (*remains, error) {
	r := &remains{fs: o.FS, dir: o.Dir, deletions: deletions{}}
	var err error
	if r.copied, _, err = readCopies(o.FS, o.FS.PathJoin(o.Dir, copyFile)); err != nil {
		return nil, err
	}
	if n := r.copied.format; n > formatVersion {
		return nil, newer(n)
	}
	if r.copied.damaged > 0 {
		r.problem("%s has %d damaged lines; the next start writes it again", o.FS.PathJoin(o.Dir, copyFile), r.copied.damaged)
	}
	names, err := o.FS.List(o.Dir)
	if err != nil {
		return nil, err
	}
	used, err := r.inUse(names)
	if err != nil {
		return nil, err
	}
	var sources []source
	for _, name := range names {
		var n uint64
		kind := ""
		if _, err := fmt.Sscanf(name, "%d.%s", &n, &kind); err != nil {
			continue
		}
		switch path := o.FS.PathJoin(o.Dir, name); {
		case kind == "sst" && used.file(n):
			f, err := r.open(path)
			if err != nil {
				return nil, err
			}
			sources = append(sources, f)
		case kind == "log" && n >= used.FirstLog:
			l, err := r.readLog(path, uint32(n))
			if err != nil {
				return nil, err
			}
			sources = append(sources, l)
		}
	}
	r.merge = newMerge(sources)
	return r, nil
}

func (r *remains) problem(format string, args ...any) {
	r.found = append(r.found, fmt.Sprintf(format, args...))
}

// problems returns sentences about what could not be read so far.
func (r *remains) problems() []string {
	list := r.found
	for _, f := range r.files {
		for _, d := range f.data.Damage {
			list = append(list, fmt.Sprintf("%s is damaged at offset %d: %s", f.path, d.Offset, cause(d.Err)))
		}
		for _, d := range f.cursor.Damage {
			before := "the end of the file"
			if d.Before != nil {
				before = describe(d.Before)
			}
			list = append(list, fmt.Sprintf("%s cannot be read between %s and %s (%d bytes at offset %d): %s",
				f.path, describe(d.After), before, d.Size, d.Offset, cause(d.Err)))
		}
	}
	return list
}

// usage is what the MANIFEST says, as far as it can be read.
type usage struct {
	manifest.State
	whole bool
}

// file reports whether a data file is in use. If a part of the MANIFEST is lost, all that
// are not known to be unused count.
func (u usage) file(n uint64) bool {
	live, known := u.Live[n]
	return live || !known && !u.whole
}

// inUse reads the MANIFEST, the one that its marker names or the newest one.
func (r *remains) inUse(names []string) (usage, error) {
	current := ""
	for _, name := range names {
		if strings.HasPrefix(name, "MANIFEST-") {
			current = max(current, name)
		}
	}
	marked := ""
	for _, name := range names { // marker.manifest.ITERATION.MANIFEST-…
		if p := strings.SplitN(name, ".", 4); len(p) == 4 && p[0] == "marker" && p[1] == "manifest" && name > marked {
			marked = name
			if slices.Contains(names, p[3]) {
				current = p[3]
			}
		}
	}
	u := usage{State: manifest.State{Live: map[uint64]bool{}}}
	if current == "" {
		r.problem("the MANIFEST is missing: entities may be back that were deleted")
		return u, nil
	}
	path := r.fs.PathJoin(r.dir, current)
	l := &logFiles{FS: r.fs, dir: r.dir, logf: func(string, ...any) {}}
	if _, err := l.read(); err != nil {
		return u, err
	}
	log, err := l.scan(path, 0)
	if err != nil {
		return u, err
	}
	var records [][]byte
	for _, r := range log.Replayable() {
		records = append(records, r.Payload)
	}
	state, err := manifest.Read(records)
	u.State = state
	u.whole = err == nil && len(records) > 0 && l.wholeManifest(path, log) == nil
	if !u.whole {
		r.problem("%s cannot be read as a whole: entities may be back that were deleted", path)
	}
	for _, n := range slices.Sorted(maps.Keys(u.Live)) {
		if name := fmt.Sprintf("%06d.sst", n); u.whole && u.Live[n] && !slices.Contains(names, name) {
			r.problem("%s is missing; what it held is lost", r.fs.PathJoin(r.dir, name))
		}
	}
	return u, nil
}

// open opens a data file.
func (r *remains) open(path string) (source, error) {
	d, err := datafile.Read(r.fs, path)
	if err != nil {
		return nil, err
	}
	for _, s := range d.Spans {
		r.deletions.add(s.Start, s.End, stamp{sequence: s.Sequence})
	}
	one := &remainingFile{path: path, data: d, cursor: d.Cursor()}
	r.files = append(r.files, one)
	return one, nil
}

func (f *remainingFile) next() (version, bool) {
	e, ok := f.cursor.Next()
	return version{key: e.Key, value: e.Value, kind: e.Kind, stamp: stamp{sequence: e.Sequence}}, ok
}

// readLog reads the commits of a log. Damage to it is told by the attempt to start.
func (r *remains) readLog(path string, number uint32) (source, error) {
	f, err := r.fs.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	var list list
	for _, record := range logfile.Scan(b, number).Replayable() {
		list = r.commit(list, record.Payload)
	}
	slices.SortStableFunc(list, func(a, b version) int { return cmp.Or(compare(a, b)) })
	return &list, nil
}
