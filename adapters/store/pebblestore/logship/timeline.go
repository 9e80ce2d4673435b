package logship

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/wholefile"
	"edgetable/core/commitlog"
)

// timelineFile is the file with the [commitlog.Timeline] of a data directory. A checkpoint lacks it, because a copy of
// the store needs another timeline.
const timelineFile = "TIMELINE"

// readTimeline reads the file TIMELINE. If the file is missing or damaged, it returns the zero value.
func readTimeline(from vfs.FS, dir string, logf func(string, ...any)) (t commitlog.Timeline, err error) {
	path := from.PathJoin(dir, timelineFile)
	b, err := wholefile.Read(from, path)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	text, sum, _ := strings.Cut(string(b), "\n")
	if sum != timelineSum(text) || json.Unmarshal([]byte(text), &t) != nil {
		logf("edgetable: %s is damaged: after a new backup, the log will be shipped as the log of a new store", path)
		return commitlog.Timeline{}, nil
	}
	return t, nil
}

// Descend makes a copy of a store begin another timeline when it first ships its log. The parameter parent is the ID of
// the store's timeline. If parent is "", Descend does nothing.
func Descend(fs vfs.FS, dir, parent string) error {
	if parent == "" {
		return nil
	}
	return writeTimeline(fs, dir, commitlog.Timeline{Parent: parent})
}

// Inherit is like Descend, but reads the timeline ID in the directory of the original store.
func Inherit(fs vfs.FS, from, to string) error {
	t, err := readTimeline(fs, from, func(string, ...any) {})
	if err != nil {
		return err
	}
	return Descend(fs, to, cmp.Or(t.ID, t.Parent))
}

func timelineSum(text string) string {
	return fmt.Sprintf("crc %08x\n", crc32.ChecksumIEEE([]byte(text)))
}

// writeTimeline durably writes the file TIMELINE.
func writeTimeline(to vfs.FS, dir string, t commitlog.Timeline) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return wholefile.Replace(to, dir, timelineFile, []byte(string(text)+"\n"+timelineSum(string(text))))
}
