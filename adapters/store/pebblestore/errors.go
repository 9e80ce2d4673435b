package pebblestore

import (
	"errors"

	"edgetable/adapters/store/pebblestore/internal/layout"
	"edgetable/adapters/store/pebblestore/internal/logguard"
)

// Errors of [Open].
var (
	// ErrNewer means that the directory has a format that this version does not know.
	ErrNewer = layout.ErrNewer
	// ErrInUse means that the directory is locked, usually by another process.
	ErrInUse = errors.New("data directory is in use by another process; stop it, or name another directory")
	// ErrDamaged means that the directory cannot be opened as it is, and that a retry does not help. ErrLost is a special
	// case of ErrDamaged.
	ErrDamaged = logguard.ErrDamaged
	// ErrLost means that confirmed commits are lost, but that the store can serve its other data. Options.AcceptDamage
	// accepts this damage.
	ErrLost = logguard.ErrLost
	// ErrForeign means that the directory belongs to another program.
	ErrForeign = errors.New("data directory was not written by edgetable")
)
