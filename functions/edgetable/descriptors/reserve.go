// Package descriptors divides the file descriptors of the process: it limits client connections, and reserves some for
// the store, the accounts and the certificates.
package descriptors

import (
	"errors"
	"os"
	"sync"
	"syscall"
)

const (
	// reserved is the number of descriptors in the reserve, which are held by open files.
	reserved = 16
	// descriptorsToGive is the number of descriptors that Release releases. The caller may open several files, so one
	// is not enough.
	descriptorsToGive = 4
)

var reserve struct {
	sync.Mutex
	files []*os.File
}

// Fill fills the reserve, as far as descriptors are available.
func Fill() {
	reserve.Lock()
	defer reserve.Unlock()
	for len(reserve.files) < reserved {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return
		}
		reserve.files = append(reserve.files, f)
	}
}

// Release releases some descriptors of the reserve for other uses. It reports whether there were any.
func Release() bool {
	reserve.Lock()
	defer reserve.Unlock()
	n := min(descriptorsToGive, len(reserve.files))
	for range n {
		last := len(reserve.files) - 1
		_ = reserve.files[last].Close()
		reserve.files = reserve.files[:last]
	}
	return n > 0
}

// OpenWithReserve calls open. While open fails for lack of descriptors, OpenWithReserve releases part of the reserve
// and retries.
func OpenWithReserve[T any](open func() (T, error)) (T, error) {
	v, err := open()
	for (errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)) && Release() {
		v, err = open()
	}
	return v, err
}

// Shares are the numbers of descriptors for the store and for the connections of clients.
type Shares struct {
	Store       int // descriptors for data files or database connections
	Connections int // descriptors for client connections; 0 means no limit
}

// Least is the lowest limit of open files with which a server starts. It suffices for the files of the server and the
// store, the reserve, and some connections.
const Least = 64

const (
	mostStore = 1000 // maximum number of files that Pebble opens
	others    = 84   // descriptors for logs, sockets, backups, metrics and the reserve
)

// Share divides the maximum number of open files between the store and the clients. A maximum of 0 means no limit.
func Share(limit int) Shares {
	if limit == 0 {
		return Shares{Store: mostStore}
	}
	store := min(mostStore, limit/4)
	return Shares{Store: store, Connections: max(8, limit-store-others)}
}
