// Package remains reads the files of a store one by one, without opening a Pebble database. So it works even if some
// files are damaged or missing.
package remains

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"
	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/datafile"
	"edgetable/adapters/store/pebblestore/internal/logfile"
	"edgetable/adapters/store/pebblestore/internal/logguard"
	"edgetable/adapters/store/pebblestore/internal/recordcopy"
	"edgetable/adapters/store/pebblestore/internal/wholefile"
)

// Options say which store to read.
type Options struct {
	FS       vfs.FS
	Dir      string
	Copied   recordcopy.Content      // second copy of the records
	Prefix   int                     // length of the common prefix of the keys of a table's entities
	Describe func(key []byte) string // function that returns a readable name of a key for messages
}

// Store reads the readable part of a store. In an undamaged directory, everything is readable.
type Store struct {
	Options
	owner     string // identity of the store that wrote most of the data files; "" if no data file has an identity
	files     []*file
	merge     merge
	deletions deletions
	found     []string // problems found so far, except damage in files
}

type file struct {
	path   string
	data   *datafile.File
	cursor *datafile.Cursor
}

// Open opens the files of the directory that must be read.
func Open(o Options) (*Store, error) {
	s := &Store{Options: o, deletions: deletions{o.Prefix, map[string][]deletedRange{}}}
	if n := o.Copied.Damaged; n > 0 {
		s.problem("%s has %d damaged lines; the next start rewrites the file", o.FS.PathJoin(o.Dir, recordcopy.Name), n)
	}
	names, err := o.FS.List(o.Dir)
	if err != nil {
		return nil, err
	}
	s.findOwner(names)
	used := s.inUse(names)
	var sources []source
	for _, name := range names {
		n, kind := used.classify(o.FS, o.Dir, name)
		if kind == other {
			continue
		}
		path := o.FS.PathJoin(o.Dir, name)
		from, err := s.open(path, n, kind, used)
		switch {
		case errors.Is(err, fs.ErrPermission): // this is not damage: another user may be able to read the file
			return nil, err
		case err != nil:
			s.problem("%s cannot be read; data that only this file contained is lost: %s", path, logguard.Cause(err))
		case from != nil:
			sources = append(sources, from)
		}
	}
	s.merge = newMerge(sources)
	return s, nil
}

// findOwner determines the identity of the store that wrote most files of the directory. A single file may come from
// another store.
func (s *Store) findOwner(names []string) {
	votes := map[string]int{}
	for _, name := range names {
		if strings.HasSuffix(name, ".sst") {
			votes[datafile.Owner(s.FS, s.FS.PathJoin(s.Dir, name))] += 2
		}
	}
	votes[s.Copied.Store]++
	most := 0
	for _, id := range slices.Sorted(maps.Keys(votes)) {
		if id != "" && votes[id] > most { // files of earlier versions have no identity
			s.owner, most = id, votes[id]
		}
	}
	if s.Copied.Store != "" && s.Copied.Store != s.owner {
		s.problem("%s belongs to another store and is not used", s.FS.PathJoin(s.Dir, recordcopy.Name))
		s.Copied.Records, s.Copied.Dropped = map[string][]byte{}, nil
	}
}

func (s *Store) problem(format string, args ...any) {
	s.found = append(s.found, fmt.Sprintf(format, args...))
}

// Problems returns one sentence for each problem found so far, such as a damaged block.
func (s *Store) Problems() []string {
	list := s.found
	for _, f := range s.files {
		for _, d := range f.data.Damage {
			list = append(list, fmt.Sprintf("%s is damaged at offset %d: %s", f.path, d.Offset, logguard.Cause(d.Err)))
		}
		for _, d := range f.cursor.Damage {
			before := "the end of the file"
			if d.Before != nil {
				before = s.Describe(d.Before)
			}
			list = append(list, fmt.Sprintf("%s cannot be read between %s and %s (%d bytes at offset %d): %s",
				f.path, s.Describe(d.After), before, d.Size, d.Offset, logguard.Cause(d.Err)))
		}
	}
	return list
}

// open opens a file of the store. It returns a nil source if the file must not be read.
func (s *Store) open(path string, number uint64, kind kind, used usage) (source, error) {
	if kind == log {
		return s.readLog(path, number, used)
	}
	d, err := datafile.Read(s.FS, path)
	if err != nil {
		return nil, err
	}
	if d.Store != "" && d.Store != s.owner {
		s.problem("%s belongs to another store and is not read", path)
		return nil, nil
	}
	switch live, known := used.Live[number]; {
	case live:
	case used.whole && len(d.Damage) > 0: // the server was killed while it wrote this new file
		return nil, nil
	case known || !used.whole:
		s.problem("%s is read, though the MANIFEST does not name it: deleted entities may reappear", path)
	}
	for _, deleted := range d.Spans {
		s.deletions.add(deleted.Start, deleted.End, stamp{sequence: deleted.Sequence})
	}
	one := &file{path: path, data: d, cursor: d.Cursor()}
	s.files = append(s.files, one)
	return one, nil
}

func (f *file) next() (Version, bool) {
	e, ok := f.cursor.Next()
	return Version{Key: e.Key, Value: e.Value, kind: e.Kind, stamp: stamp{sequence: e.Sequence}}, ok
}

// readLog reads the commits of a log. It does not report damaged records, because offline.Check reports them.
func (s *Store) readLog(path string, named uint64, used usage) (source, error) {
	b, bad, err := wholefile.Readable(s.FS, path)
	if err != nil {
		return nil, err
	}
	number, ok := logfile.NumberOf(b)
	if !ok {
		number = uint32(named)
	}
	if used.whole && uint64(number) < used.FirstLog { // the commits of this log are also in data files
		return nil, nil
	}
	if bad != nil {
		s.problem("%s cannot be read at %v", path, bad)
	}
	if uint64(number) != named {
		s.problem("%s is the log %s, judging by its content", path, logguard.LogName(number))
	}
	var list list
	for _, record := range logfile.Scan(b, number).Replayable() {
		list = s.commit(list, record.Payload)
	}
	slices.SortStableFunc(list, compare)
	return &list, nil
}

// commit adds the changes in one record of a log to the list l, and the deleted key ranges of the record to s.
func (s *Store) commit(l list, record []byte) list {
	h, ok := batchrepr.ReadHeader(record)
	if !ok {
		return l
	}
	at := stamp{sequence: uint64(h.SeqNum)}
	if m, ok := logguard.MarkOf(record); ok {
		at.at = m.Number
	}
	b := batchrepr.Read(record)
	for {
		kind, k, v, more, err := b.Next()
		if err != nil || !more {
			return l
		}
		switch kind {
		case pebble.InternalKeyKindLogData:
			continue // a record of the kind LogData has no sequence number
		case pebble.InternalKeyKindRangeDelete:
			s.deletions.add(k, v, at)
		default:
			l = append(l, Version{Key: k, Value: v, kind: kind, stamp: at})
		}
		at.sequence++
	}
}
