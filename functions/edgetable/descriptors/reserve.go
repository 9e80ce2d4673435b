// Package descriptors shares out the file descriptors of the process. Connections of
// clients are bounded below the limit, and some descriptors are held in reserve: for the
// store, the accounts and the certificates if others use up the rest.
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
	// given is how many of them one that finds none gets, with those that it opens next.
	given = 4
)

var reserve struct {
	sync.Mutex
	files []*os.File
}

// Fill fills the reserve, as far as there are descriptors.
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

// Give gives descriptors of the reserve back to the process, and reports whether there
// were any.
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

// Try opens something, if need be with descriptors of the reserve.
func Try[T any](open func() (T, error)) (T, error) {
	v, err := open()
	for (errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)) && Give() {
		v, err = open()
	}
	return v, err
}

// Shares are how many descriptors each part may use.
type Shares struct {
	Store       int // data files, or connections to another machine
	Connections int // of clients; 0: there is no limit
}

const (
	mostStore = 1000 // which Pebble opens at once
	others    = 84   // logs, sockets, the reserve, backups, metrics
)

// Share divides the limit of the process. 0 is no limit.
func Share(limit int) Shares {
	if limit == 0 {
		return Shares{Store: mostStore}
	}
	store := min(mostStore, limit/4)
	return Shares{Store: store, Connections: max(8, limit-store-others)}
}
