package sorter

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/core/key"
	"edgetable/functions/edgetable/transfer/rows"
)

// Sorter sorts rows by key in bounded memory. It writes rows that do not fit to files of a temporary Pebble store,
// which merges the files. Of several rows with the same keys, it returns only the last one.
type Sorter struct {
	fs      vfs.FS
	limit   int // maximum size in bytes of the rows in memory
	arena   []byte
	entries []span // locations of the rows in arena
	added   int64
	dir     string
	options *pebble.Options
	db      *pebble.DB // temporary store; nil as long as all rows are in memory
}

// span locates a row in the arena: arena[from:key] is the encoded key, arena[key:to] the rest.
type span struct{ from, key, to int }

// Memory is the default limit in bytes of the rows in memory. The index of the rows takes additional memory, up to the
// same amount for rows without properties.
const Memory = 32 << 20

// New returns a Sorter that holds at most the given number of bytes of rows in memory.
func New(memory int) *Sorter { return &Sorter{fs: unsynced{vfs.Default}, limit: memory} }

// Add adds a row.
func (s *Sorter) Add(r rows.Row) error {
	if len(s.arena)+len(r.Properties)+3*(len(r.PartitionKey)+len(r.RowKey)) > s.limit && len(s.entries) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	if s.arena == nil {
		s.arena = make([]byte, 0, s.limit)
	}
	at := len(s.arena)
	s.arena = key.Append(s.arena, r.PartitionKey, r.RowKey)
	end := len(s.arena)
	s.arena = append(binary.AppendUvarint(s.arena, uint64(r.Line)), r.Properties...)
	s.entries = append(s.entries, span{at, end, len(s.arena)})
	s.added++
	return nil
}

// eachInMemory passes the rows in memory to the callback in key order, and then discards them.
func (s *Sorter) eachInMemory(do func(k, rest []byte) error) error {
	keyOf := func(e span) []byte { return s.arena[e.from:e.key] }
	slices.SortFunc(s.entries, func(a, b span) int { return cmp.Or(bytes.Compare(keyOf(a), keyOf(b)), a.from-b.from) })
	for i, e := range s.entries {
		if i+1 < len(s.entries) && bytes.Equal(keyOf(e), keyOf(s.entries[i+1])) {
			continue // the next row replaces this one
		}
		if err := do(keyOf(e), s.arena[e.key:e.to]); err != nil {
			return err
		}
	}
	s.arena, s.entries = s.arena[:0], s.entries[:0]
	return nil
}

// spill writes the rows in memory to a sorted file and adds it to the store.
func (s *Sorter) spill() error {
	if s.db == nil {
		if err := s.open(); err != nil {
			return err
		}
	}
	path := filepath.Join(s.dir, "rows.sst")
	f, err := s.fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	w := sstable.NewWriter(objstorageprovider.NewFileWritable(f), s.options.MakeWriterOptions(0, s.db.TableFormat()))
	if err := errors.Join(s.eachInMemory(w.Set), w.Close()); err != nil {
		return err
	}
	return s.db.Ingest(context.Background(), []string{path}) // this moves the file into the store
}

// open creates the store in a temporary directory.
func (s *Sorter) open() (err error) {
	if s.dir, err = os.MkdirTemp("", "edgetable-sort-*"); err != nil {
		return err
	}
	s.options = &pebble.Options{
		FS:         s.fs,
		DisableWAL: true, // no log is needed, because only complete files are ingested
		Logger:     quietLogger{},
		// Each file is read once, so compactions are not worth their cost.
		DisableAutomaticCompactions: true,
		L0StopWritesThreshold:       math.MaxInt32,
	}
	s.options.Levels[0].BlockSize = 32 << 10 // larger blocks need fewer reads, but a merge holds one block of each file in memory
	s.options.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionNone })
	s.options.EnsureDefaults()
	s.db, err = pebble.Open(filepath.Join(s.dir, "store"), s.options)
	return err
}

// quietLogger discards log messages. Pebble also returns the errors, so Fatalf need not terminate the process.
type quietLogger struct{}

func (quietLogger) Infof(string, ...any)  {}
func (quietLogger) Errorf(string, ...any) {}
func (quietLogger) Fatalf(string, ...any) {}

// Each passes the rows to the callback in key order. It returns the number of rows that were replaced by a later row
// with the same keys.
func (s *Sorter) Each(do func(r rows.Row) error) (dropped int64, err error) {
	dropped = s.added
	give := func(k, rest []byte) error {
		dropped--
		pk, rk := key.Decode(bytes.Clone(k))
		line, n := binary.Uvarint(rest)
		return do(rows.Row{PartitionKey: pk, RowKey: rk, Properties: bytes.Clone(rest[n:]), Line: int(line)})
	}
	if s.db == nil {
		err = s.eachInMemory(give)
		return dropped, err
	}
	if err := s.spill(); err != nil {
		return 0, err
	}
	it, err := s.db.NewIter(nil)
	if err != nil {
		return 0, fmt.Errorf("sorting: %w", err)
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok; ok = it.Next() {
		if err := give(it.Key(), it.Value()); err != nil {
			return dropped, err
		}
	}
	return dropped, it.Error()
}

func (s *Sorter) Close() (err error) {
	if s.db != nil {
		err = s.db.Close()
	}
	if s.dir != "" {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	return err
}
