package protocol

import (
	"io"

	"edgetable/core/table"
)

// ReadAll exports readAll.
func ReadAll(b []byte, r io.Reader, length int64) ([]byte, error) { return readAll(b, r, length) }

// Echoable exports echoable.
func Echoable(id string) bool { return echoable(id) }

// AsError exports asError.
func AsError(err error) *table.Error { return asError(err) }
