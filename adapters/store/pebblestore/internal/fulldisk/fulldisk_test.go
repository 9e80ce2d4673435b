package fulldisk

import (
	"errors"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/core/table"
)

// small is the file system of a machine with a limited number of free bytes and free file descriptors.
type small struct {
	vfs.FS
	mu     sync.Mutex
	room   int64 // free bytes
	opens  int   // free descriptors
	failed int   // number of operations that found no space or no descriptor
}

const total = 1 << 30

func (m *small) GetDiskUsage(string) (vfs.DiskUsage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return vfs.DiskUsage{AvailBytes: uint64(m.room), TotalBytes: total}, nil
}

// set changes the numbers of free bytes and of free descriptors.
func (m *small) set(room int64, opens int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.room, m.opens = room, opens
}

// descriptor uses one free descriptor, or fails if there is none.
func (m *small) descriptor() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.opens == 0 {
		m.failed++
		return syscall.EMFILE
	}
	m.opens--
	return nil
}

func (m *small) Create(path string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := m.descriptor(); err != nil {
		return nil, err
	}
	f, err := m.FS.Create(path, c)
	return smallFile{f, m}, err
}

func (m *small) Open(path string, o ...vfs.OpenOption) (vfs.File, error) {
	if err := m.descriptor(); err != nil {
		return nil, err
	}
	return m.FS.Open(path, o...)
}

// OpenReadWrite opens a file. Writes to this file reduce the simulated free space. Disk calls OpenReadWrite to
// create the reserve file.
func (m *small) OpenReadWrite(path string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	f, err := m.FS.OpenReadWrite(path, c, o...)
	return smallFile{f, m}, err
}

// Remove removes a file and frees its space.
func (m *small) Remove(path string) error {
	info, err := m.FS.Stat(path)
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.room += info.Size()
	m.mu.Unlock()
	return m.FS.Remove(path)
}

type smallFile struct {
	vfs.File
	m *small
}

// take uses up to n free bytes, and returns the number of used bytes.
func (f smallFile) take(n int) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	room := int(min(f.m.room, int64(n)))
	f.m.room -= int64(room)
	if room < n {
		f.m.failed++
		return room, syscall.ENOSPC
	}
	return n, nil
}

func (f smallFile) Write(b []byte) (int, error) {
	n, err := f.take(len(b))
	if k, err := f.File.Write(b[:n]); err != nil {
		return k, err
	}
	return n, err
}

func (f smallFile) WriteAt(b []byte, at int64) (int, error) {
	n, err := f.take(len(b))
	if k, err := f.File.WriteAt(b[:n], at); err != nil {
		return k, err
	}
	return n, err
}

// begin opens a Disk with a reserve file on a machine with much free space.
func begin(t *testing.T, reserve int64, spare func() bool) (*Disk, *small) {
	t.Helper()
	m := &small{FS: vfs.NewMem(), room: total / 2, opens: 1000}
	if err := m.MkdirAll("data", 0o700); err != nil {
		t.Fatal(err)
	}
	d := New(Options{FS: m, Dir: "data", Reserve: reserve, Spare: spare, Logf: t.Logf})
	d.Open()
	return d, m
}

func create(t *testing.T, d *Disk, path string, c vfs.DiskWriteCategory) vfs.File {
	t.Helper()
	f, err := d.FS().Create(path, c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

var (
	puts    = []table.Mutation{{Kind: table.Put}}
	deletes = []table.Mutation{{Kind: table.Delete}}
)

// TestWriteWaits checks that a write without space waits, and writes the rest of its bytes when there is space. During
// the wait, all writes of the store are refused, including deletes.
func TestWriteWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, m := begin(t, 0, nil)
		defer d.Close()
		f := create(t, d, "data/000001.log", vfs.WriteCategoryUnspecified)
		stalled := d.Stalled()
		d.log.logf = func(string, ...any) {
			select {
			case <-stalled:
				t.Error("Stalled reports the wait before the disk refuses writes")
			default:
			}
			d.log.logf = t.Logf
		}
		m.set(3, 1000)
		done := make(chan error, 1)
		go func() {
			n, err := f.Write([]byte("ten bytes."))
			if n != 10 {
				err = errors.Join(err, errors.New("it is not complete"))
			}
			done <- err
		}()
		<-stalled // from now on, the disk refuses writes
		for _, m := range [][]table.Mutation{puts, deletes} {
			if err := d.Admit(m); !errors.Is(err, table.ErrFull) {
				t.Errorf("a write beside one that waits: %v", err)
			}
		}
		if !d.Waiting() || !d.Full() || !errors.Is(d.Shortage(), table.ErrFull) {
			t.Errorf("waiting: %v, full: %v, for: %v", d.Waiting(), d.Full(), d.Shortage())
		}
		m.set(total/2, 1000)
		if err := <-done; err != nil {
			t.Errorf("the write: %v", err)
		}
		d.Measure()
		if err := d.Admit(puts); err != nil || d.Waiting() {
			t.Errorf("when there is space: %v", err)
		}
		if info, err := m.Stat("data/000001.log"); err != nil || info.Size() != 10 {
			t.Errorf("the file: %v, %v", info, err)
		}
	})
}

// TestReserveGoes checks that an operation without space uses the space of the reserve file and does not wait. Until
// there is space for a new reserve file, writes are refused, except deletes.
func TestReserveGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const reserve = 1 << 20
		d, m := begin(t, reserve, nil)
		defer d.Close()
		if info, err := m.Stat("data/RESERVE"); err != nil || info.Size() != reserve {
			t.Fatalf("the reserve: %v, %v", info, err)
		}
		f := create(t, d, "data/000001.log", vfs.WriteCategoryUnspecified)
		m.set(0, 1000)
		if _, err := f.Write(make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Stat("data/RESERVE"); err == nil {
			t.Error("the reserve is still there")
		}
		if err := d.Admit(puts); !errors.Is(err, table.ErrFull) {
			t.Errorf("a put: %v", err)
		}
		if err := d.Admit(deletes); err != nil {
			t.Errorf("a delete: %v", err)
		}
		m.set(reserve, 1000) // enough for a reserve file, but not for the free space that must remain
		d.Measure()
		if !d.Full() {
			t.Error("there is no room for a reserve, and writes are accepted")
		}
		m.set(2*reserve, 1000)
		d.Measure()
		if d.Full() {
			t.Error("there is room for a reserve, and writes are refused")
		}
		if _, err := m.Stat("data/RESERVE"); err != nil {
			t.Errorf("the reserve is not made again: %v", err)
		}
	})
}

// TestCompactionFails checks that a compaction fails, and does not wait, before it uses the space for logs and flushes.
func TestCompactionFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const reserve = 1 << 20
		d, m := begin(t, reserve, nil)
		defer d.Close()
		f := create(t, d, "data/000002.sst", "pebble-compaction")
		m.set(reserve/8, 1000) // compactions must leave free space for logs and flushes: a quarter of the reserve file's size
		if _, err := f.Write(make([]byte, 100)); !NoSpace(err) || d.Waiting() {
			t.Errorf("the compaction: %v, and waiting: %v", err, d.Waiting())
		}
		if _, err := m.Stat("data/RESERVE"); err != nil {
			t.Errorf("it took the reserve: %v", err)
		}
		d.Starve()
		if err := d.Admit(puts); !errors.Is(err, table.ErrFull) {
			t.Errorf("a put behind it: %v", err)
		}
	})
}

// TestOutside checks that an operation outside of the data directory fails if there is no space.
func TestOutside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, m := begin(t, 1<<20, nil)
		defer d.Close()
		if err := m.MkdirAll("backup", 0o700); err != nil {
			t.Fatal(err)
		}
		f := create(t, d, "backup/000001.log", vfs.WriteCategoryUnspecified)
		m.set(0, 0)
		if _, err := f.Write([]byte("text")); !NoSpace(err) {
			t.Errorf("a write: %v", err)
		}
		if _, err := d.FS().Create("backup/000002.log", vfs.WriteCategoryUnspecified); !NoDescriptor(err) {
			t.Errorf("a file: %v", err)
		}
		if d.Full() {
			t.Error("writes are refused")
		}
	})
}

// TestDescriptors checks that an operation without a free descriptor first uses the reserve of descriptors, and then
// waits. An operation that opens a file for reading does not wait.
func TestDescriptors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m *small
		spare := 1
		give := func() bool {
			if spare == 0 {
				return false
			}
			spare--
			m.set(total/2, 1)
			return true
		}
		d, m1 := begin(t, 0, give)
		m = m1
		defer d.Close()
		m.set(total/2, 0)
		create(t, d, "data/000001.log", vfs.WriteCategoryUnspecified)
		if spare != 0 {
			t.Fatal("the descriptor in reserve was not used")
		}
		if _, err := d.FS().Open("data/000001.log"); !errors.Is(err, table.ErrBusy) || !NoDescriptor(err) {
			t.Errorf("a file to read: %v", err)
		}
		stalled := d.Stalled()
		done := make(chan error, 1)
		go func() {
			_, err := d.FS().Create("data/000002.log", vfs.WriteCategoryUnspecified)
			done <- err
		}()
		<-stalled // from now on, the disk refuses writes
		if err := d.Admit(deletes); !errors.Is(err, table.ErrBusy) {
			t.Errorf("a delete meanwhile: %v", err)
		}
		m.set(total/2, 1)
		if err := <-done; err != nil {
			t.Errorf("the log: %v", err)
		}
		d.Measure()
		if err := d.Admit(puts); err != nil {
			t.Errorf("a put when there are descriptors: %v", err)
		}
	})
}

// TestCloseEndsWaits checks that a waiting operation fails when the Disk is closed.
func TestCloseEndsWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, m := begin(t, 0, nil)
		f := create(t, d, "data/000001.log", vfs.WriteCategoryUnspecified)
		stalled := d.Stalled()
		m.set(0, 1000)
		done := make(chan error, 1)
		go func() {
			_, err := f.Write([]byte("text"))
			done <- err
		}()
		<-stalled
		d.Close()
		if err := <-done; !NoSpace(err) || !d.Closing() {
			t.Errorf("the write: %v, closing: %v", err, d.Closing())
		}
	})
}
