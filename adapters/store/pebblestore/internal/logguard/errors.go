package logguard

import (
	"errors"
	"fmt"
	"strings"
)

// ErrDamaged means that the directory cannot be opened as it is. The error that
// wraps it says which files are damaged.
var ErrDamaged = errors.New("data directory is damaged")

// ErrLost is the damage that can be accepted: confirmed commits
// are lost, but the rest can be served.
var ErrLost = fmt.Errorf("%w and has lost commits", ErrDamaged)

// Salvageable returns the error for damage after which only the readable part can be saved, as a copy.
func Salvageable(err error) error {
	return fmt.Errorf("%w: %s; save what can be read with 'edgetable check --salvage', or restore a backup", ErrDamaged, Cause(err))
}

// Cause returns the first line of an error of Pebble, which describes the damage.
func Cause(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
