//go:build unix

package descriptors

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// TestReserve uses up all descriptors of the process. It checks that files can still be opened with the
// reserve, and that the reserve is refilled later.
func TestReserve(t *testing.T) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	low := before
	low.Cur = 128
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before) }()
	if Limit() != 128 {
		t.Errorf("the limit is %d", Limit())
	}
	Fill()
	defer func() {
		for Release() {
		}
	}()
	var all []*os.File
	use := func() {
		for {
			f, err := os.Open(os.DevNull)
			if errors.Is(err, syscall.EMFILE) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, f)
		}
	}
	end := func() {
		for _, f := range all {
			f.Close()
		}
		all = nil
	}
	use()
	open := func() (*os.File, error) { return os.Open("reserve.go") }
	for range reserved / descriptorsToGive {
		f, err := OpenWithReserve(open)
		if err != nil {
			t.Fatalf("with a reserve: %v", err)
		}
		f.Close()
		use()
	}
	if _, err := OpenWithReserve(open); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("without a reserve: %v", err)
	}
	end()
	Fill()
	use()
	if f, err := OpenWithReserve(open); err != nil {
		t.Errorf("the reserve was not filled again: %v", err)
	} else {
		f.Close()
	}
	end()
}

func TestShare(t *testing.T) {
	for limit, want := range map[int]Shares{
		0: {Store: 1000}, 64: {16, 8}, 600: {150, 366}, 4096: {1000, 3012}, 65536: {1000, 64452},
	} {
		if got := Share(limit); got != want {
			t.Errorf("of %d: %+v, want %+v", limit, got, want)
		}
	}
}
