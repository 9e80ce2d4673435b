package logguard

import (
	"fmt"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/logfile"
	"edgetable/adapters/store/pebblestore/internal/wholefile"
)

// CheckMarker returns an error if a directory has data files but no marker file, which names the MANIFEST. Pebble would
// create a new store there.
func CheckMarker(names []string) error {
	data, marker := "", false
	for _, name := range names {
		if strings.HasSuffix(name, ".log") || strings.HasSuffix(name, ".sst") || name == logList {
			data = name
		}
		marker = marker || strings.HasPrefix(name, "marker.manifest.")
	}
	if data != "" && !marker {
		return Salvageable(fmt.Errorf("%s exists, but the file marker.manifest.… is missing", data))
	}
	return nil
}

type manifestFile struct {
	vfs.File
	list    *list
	name    string
	written int64
}

func (f *manifestFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	f.written += int64(n)
	return n, err
}

// Sync syncs the MANIFEST and remembers its length. The next change of the list of logs writes the length to the file
// LOGS.
func (f *manifestFile) Sync() error {
	if err := f.File.Sync(); err != nil {
		return err
	}
	f.list.mu.Lock()
	defer f.list.mu.Unlock()
	f.list.manifest = namedManifest{f.name, f.written}
	return nil
}

func isManifest(name string) bool { return strings.HasPrefix(name, "MANIFEST-") }

// scan reads the log with this number, or a MANIFEST if the number is 0.
func (l *list) scan(path string, number uint32) (logfile.Log, error) {
	b, bad, err := wholefile.Readable(l.fs, path)
	if err != nil {
		return logfile.Log{}, err
	}
	log := logfile.Scan(b, number)
	if bad != nil {
		log.Unreadable = bad
	}
	return log, nil
}

// checkManifest returns an error if the synced part of the MANIFEST cannot be read. No policy accepts this damage,
// because only the MANIFEST names the data files.
func (l *list) checkManifest(path string) error {
	log, err := l.scan(path, 0)
	if err != nil {
		return err
	}
	return l.wholeManifest(path, log)
}

func (l *list) wholeManifest(path string, log logfile.Log) error {
	if log.Unreadable != nil {
		return Salvageable(fmt.Errorf("%s cannot be read at %w", path, log.Unreadable))
	}
	if len(log.Damage) == 0 && (l.manifest.name != l.fs.PathBase(path) || int64(log.End) >= l.manifest.synced) {
		return nil
	}
	return Salvageable(fmt.Errorf("%s cannot be read to its end", path))
}

// ReadManifest returns the readable records of a MANIFEST in a directory. The result complete reports whether the whole
// synced part of the MANIFEST can be read.
func ReadManifest(from vfs.FS, dir, path string) (records [][]byte, complete bool, err error) {
	l := &list{fs: from, dir: dir, logf: func(string, ...any) {}}
	if _, err := l.read(); err != nil {
		return nil, false, err
	}
	log, err := l.scan(path, 0)
	if err != nil {
		return nil, false, err
	}
	for _, r := range log.Replayable() {
		records = append(records, r.Payload)
	}
	return records, l.wholeManifest(path, log) == nil, nil
}
