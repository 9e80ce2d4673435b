// Package descriptors divides the file descriptors of the process. Clients' connections are limited below the process
// limit, and some descriptors are kept in reserve for the store, the accounts and the certificates, in case all
// others are used up.
package descriptors

import (
	"errors"
	"os"
	"sync"
	"syscall"
)

const (
	// reserved is the number of descriptors in reserve.
	reserved = 16
	// given is how many reserved descriptors are released at a time. A caller that found no free descriptor gets
	// several, because it may open more files next.
	given = 4
)

var reserve struct {
	sync.Mutex
	files []*os.File
}

// Fill refills the reserve, as far as descriptors are available.
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

// Give releases descriptors from the reserve to the process, and reports whether there were any.
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

// Try calls open. While that fails for lack of descriptors, it releases some of the reserve and tries again.
func Try[T any](open func() (T, error)) (T, error) {
	v, err := open()
	for (errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)) && Give() {
		v, err = open()
	}
	return v, err
}

// Shares is how many descriptors each part may use.
type Shares struct {
	Store       int // for data files, or for connections to another machine
	Connections int // clients' connections; 0 means no limit
}

const (
	mostStore = 1000 // maximum number of files that Pebble opens at once
	others    = 84   // for logs, sockets, the reserve, backups and metrics
)

// Share divides the limit of the process; 0 means no limit.
func Share(limit int) Shares {
	if limit == 0 {
		return Shares{Store: mostStore}
	}
	store := min(mostStore, limit/4)
	return Shares{Store: store, Connections: max(8, limit-store-others)}
}
