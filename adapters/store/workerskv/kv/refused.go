package kv

import (
	"strings"

	"edgetable/adapters/store/workerskv"
)

// refusals are in what KV and the platform say of a write that is not done and
// never will be: too many of a name, of a day on the Free plan, and calls of an
// invocation. They say so by their text alone.
var refusals = [...]string{"429", "limit exceeded", "Too many"}

// refusal is [workerskv.ErrRefused], with the reason for the log.
type refusal struct{ cause error }

func (r *refusal) Error() string   { return r.cause.Error() }
func (r *refusal) Unwrap() []error { return []error{workerskv.ErrRefused, r.cause} }

// refused tells the errors of what was not done from the others.
func refused(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, one := range refusals {
		if strings.Contains(text, one) {
			return &refusal{err}
		}
	}
	return err
}
