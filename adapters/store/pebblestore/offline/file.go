package offline

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/logguard"
)

// CheckFile returns an error if the checksum of a block of a data file is wrong. For other kinds of files, it returns
// nil.
func CheckFile(path string) error {
	if !strings.HasSuffix(path, ".sst") {
		return nil
	}
	f, err := vfs.Default.Open(path)
	if err != nil {
		return err
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	r, err := sstable.NewReader(context.Background(), readable, sstable.ReaderOptions{})
	if err == nil {
		err = errors.Join(r.ValidateBlockChecksums(), r.Close())
	}
	if err != nil {
		return fmt.Errorf("%w: %s", logguard.ErrDamaged, logguard.Cause(err))
	}
	return nil
}
