package logship

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/logguard"
)

// listLogs returns all log numbers >= from, in order. It reads the folder of kept logs last, because a concurrent call
// may move a log to this folder.
func (k *Keeper) listLogs(from uint32) (list []uint32, err error) {
	names, err := k.fs.List(k.dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if n, ok := logguard.Number(name); ok {
			list = append(list, n)
		}
	}
	kept, _ := k.Kept()
	list = append(list, kept...)
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(n uint32) bool { return n < from }), nil
}

// openLog opens a log in the data directory or in the folder of kept logs.
func (k *Keeper) openLog(n uint32) (vfs.File, error) {
	f, err := k.fs.Open(k.fs.PathJoin(k.dir, logguard.LogName(n)))
	if errors.Is(err, fs.ErrNotExist) {
		f, err = k.fs.Open(k.path(n))
	}
	return f, err
}
