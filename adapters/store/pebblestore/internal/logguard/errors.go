package logguard

import (
	"errors"
	"fmt"
	"strings"
)

// ErrDamaged means that the data directory is damaged and cannot be opened as it is. The message of the wrapping error says
// which files are damaged.
var ErrDamaged = errors.New("data directory is damaged")

// ErrLost is the kind of damage that the operator can accept: confirmed
// commits are lost, but the other data can be served.
var ErrLost = fmt.Errorf("%w and has lost commits", ErrDamaged)

// Salvageable wraps an error that prevents a start. The operator can copy the readable data to a new store, or restore
// a backup.
func Salvageable(err error) error {
	return fmt.Errorf("%w: %s; save the readable data with 'edgetable check --salvage', or restore a backup", ErrDamaged, Cause(err))
}

// Cause returns the first line of an error of Pebble. This line describes the damage.
func Cause(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
