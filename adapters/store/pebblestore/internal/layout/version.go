package layout

import (
	"errors"
	"fmt"
)

// Version is the version of the layout of the data directory. A store upgrades directories of earlier versions.
//
//	1 the first version
//	2 adds a second copy of the records: a program that does not maintain this copy must not write to the store
const Version = 2

// ErrNewer means that the directory has a format that this version of the program does not know.
var ErrNewer = errors.New("data directory was written by a newer edgetable; run that version")

// CheckVersion returns ErrNewer for a version above Version.
func CheckVersion(n uint32) error {
	if n <= Version {
		return nil
	}
	return fmt.Errorf("%w (its format is %d, this version supports up to %d)", ErrNewer, n, Version)
}
