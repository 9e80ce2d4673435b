package setting

import (
	"errors"
	"strconv"
	"time"
)

// Reader reads settings by name and records the first error. A setting that is missing or empty has its default value.
type Reader struct {
	Lookup func(name string) string
	err    error
}

// Err returns the first error, which includes the name and the value of the setting.
func (r *Reader) Err() error { return r.err }

// Fail records an error that the caller has found.
func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// Int reads a whole number, which must be between the bounds least and most. The parameter usual is the default.
func (r *Reader) Int(name string, usual, minimum, maximum int) int {
	return read(r, name, usual, func(text string) (int, error) { return Int(text, minimum, maximum) })
}

// Number reads a number, which must be between the bounds least and most. The parameter usual is the default.
func (r *Reader) Number(name string, usual, minimum, maximum float64) float64 {
	return read(r, name, usual, func(text string) (float64, error) { return Number(text, minimum, maximum) })
}

// Duration reads a duration, which must be between the bounds least and most. The parameter usual is the default.
func (r *Reader) Duration(name string, usual, minimum, maximum time.Duration) time.Duration {
	return read(r, name, usual, func(text string) (time.Duration, error) { return Duration(text, minimum, maximum) })
}

// Bool reads true or false. The default is false.
func (r *Reader) Bool(name string) bool { return read(r, name, false, Bool) }

// Rates reads limits per second. If the setting is missing, there are no limits.
func (r *Reader) Rates(name string) Rates { return read(r, name, Rates{}, ParseRates) }

// List reads a comma-separated list.
func (r *Reader) List(name string) []string { return list(r.Lookup(name)) }

func read[T any](r *Reader, name string, usual T, parse func(string) (T, error)) T {
	text := r.Lookup(name)
	if text == "" {
		return usual
	}
	value, err := parse(text)
	if err != nil {
		r.Fail(errors.New(name + "=" + strconv.Quote(text) + ": " + err.Error()))
		return usual
	}
	return value
}
