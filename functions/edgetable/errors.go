package main

import "fmt"

// usageError is a mistake in the command line.
type usageError string

func (e usageError) Error() string { return string(e) }

// failure is an error with another exit status than 1.
type failure struct {
	status int
	error
}

func (f failure) Unwrap() error { return f.error }

func misuse(format string, args ...any) error { return usageError(fmt.Sprintf(format, args...)) }
