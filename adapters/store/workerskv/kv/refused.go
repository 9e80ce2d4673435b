package kv

import (
	"slices"
	"strings"

	"edgetable/adapters/store/workerskv"
)

// refusals contains parts of the error messages for writes that were not applied: too many writes of a name, in a day,
// or in an invocation. These errors have no code.
var refusals = [...]string{"429", "limit exceeded", "Too many"}

// refusal is a [workerskv.ErrRefused] with the message of its cause, for the log.
type refusal struct{ cause error }

func (r *refusal) Error() string   { return r.cause.Error() }
func (r *refusal) Unwrap() []error { return []error{workerskv.ErrRefused, r.cause} }

// asRefusal converts err to a refusal if its message contains one of refusals. Otherwise it returns err.
func asRefusal(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if slices.ContainsFunc(refusals[:], func(one string) bool { return strings.Contains(text, one) }) {
		return &refusal{err}
	}
	return err
}
