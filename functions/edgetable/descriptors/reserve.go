// Package descriptors divides the file descriptors of the process between its parts. It limits the connections of
// clients. It also keeps some descriptors in reserve, which the store, the accounts and the certificates can use when
// no other descriptor is free.
package descriptors

import (
	"errors"
	"os"
	"sync"
	"syscall"
)

const (
	// reserved is the number of files that are kept open only for their descriptors. When no other descriptor is free,
	// some of these files are closed.
	reserved = 16
	// given is the number of files from the reserve that are closed at a time. One file is not enough, because the
	// caller may open several files.
	given = 4
)

var reserve struct {
	sync.Mutex
	files []*os.File
}

// Fill opens descriptors until the reserve is full or no further descriptor is available.
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

// Give closes some of the files in reserve, so that the process can use their descriptors. It reports whether there
// were any files in reserve.
func Give() bool {
	reserve.Lock()
	defer reserve.Unlock()
	n := min(given, len(reserve.files))
	for range n {
		last := len(reserve.files) - 1
		_ = reserve.files[last].Close()
		reserve.files = reserve.files[:last]
	}
	return n > 0
}

// Try calls open. As long as open fails for lack of descriptors, Try releases some of the reserve and calls open
// again.
func Try[T any](open func() (T, error)) (T, error) {
	v, err := open()
	for (errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)) && Give() {
		v, err = open()
	}
	return v, err
}

// Shares contains the numbers of descriptors that the store and the clients' connections may use.
type Shares struct {
	Store       int // for data files, or for connections to a database
	Connections int // clients' connections; 0 means no limit
}

// Least is the smallest limit with which a server starts. It suffices for the files of the server and of its store, for
// the reserve, and for some connections.
const Least = 64

const (
	mostStore = 1000 // maximum number of files that Pebble opens at once
	others    = 84   // for logs, sockets, backups, metrics, and the files that this package keeps open in reserve
)

// Share divides the process's limit of descriptors. A limit of 0 means that there is no limit.
func Share(limit int) Shares {
	if limit == 0 {
		return Shares{Store: mostStore}
	}
	store := min(mostStore, limit/4)
	return Shares{Store: store, Connections: max(8, limit-store-others)}
}
