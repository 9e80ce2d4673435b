package kv

import (
	"slices"
	"strings"

	"edgetable/adapters/store/workerskv"
)

// refusals are parts of the error texts by which KV and the platform say that a write was not done and will not be:
// too many writes of a name, too many in a day on the Free plan, or too many calls of an invocation. Only the text
// distinguishes these errors.
var refusals = [...]string{"429", "limit exceeded", "Too many"}

// refusal is [workerskv.ErrRefused] with the reason for the log.
type refusal struct{ cause error }

func (r *refusal) Error() string   { return r.cause.Error() }
func (r *refusal) Unwrap() []error { return []error{workerskv.ErrRefused, r.cause} }

// refused wraps an error with such a text as a refusal.
func refused(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if slices.ContainsFunc(refusals[:], func(one string) bool { return strings.Contains(text, one) }) {
		return &refusal{err}
	}
	return err
}
