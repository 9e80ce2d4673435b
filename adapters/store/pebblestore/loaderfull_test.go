package pebblestore_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"edgetable/adapters/store/pebblestore"
	"edgetable/adapters/store/pebblestore/internal/layout"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// TestLoaderOnFullDisk fills the disk of a [pebblestore.Loader], and then writes little or much. Close must return an
// error after the small write, because this write is not durable. A large write waits for space, until it is
// interrupted.
func TestLoaderOnFullDisk(t *testing.T) {
	t.Parallel()
	for _, size := range []int{100 << 10, 4 << 20} {
		disk, interrupt := newQuota(), make(chan struct{})
		logged := new(lines) // not t.Logf, because a waiting operation may end after the test
		l, err := pebblestore.NewLoader(pebblestore.Options{Dir: "data", FS: disk, Logf: logged.printf, Interrupt: interrupt})
		must.OK(t, err)
		disk.setLimit(disk.used())
		go func() {
			<-disk.hit
			if size > 1<<20 {
				close(interrupt)
			}
		}()
		value := make([]byte, 10<<10)
		random := rand.NewChaCha8([32]byte{1})
		for i := 0; i < size && err == nil; i += len(value) {
			_, _ = random.Read(value) // Read returns no error
			err = l.Set(append(layout.AppendPrefix(nil, table.Incarnation{1}), byte(i>>16), byte(i>>8)), value)
		}
		if err == nil {
			err = l.Flush()
		}
		if want := size > 1<<20; errors.Is(err, table.ErrFull) != want {
			t.Errorf("%d bytes: the error is %v", size, err)
		}
		<-disk.hit
		if err := l.Close(); !errors.Is(err, table.ErrFull) {
			t.Errorf("%d bytes: Close: %v", size, err)
		}
		disk.makeSpace() // lets the waiting file operations end
	}
}
