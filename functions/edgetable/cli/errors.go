package cli

import "fmt"

// UsageError is an error about the command line.
type UsageError string

func (e UsageError) Error() string { return string(e) }

// Failure is an error with an exit status other than 1.
type Failure struct {
	Status int
	error
}

// Fail wraps an error with an exit status.
func Fail(status int, err error) error { return Failure{status, err} }

func (f Failure) Unwrap() error { return f.error }

func Misuse(format string, args ...any) error { return UsageError(fmt.Sprintf(format, args...)) }
