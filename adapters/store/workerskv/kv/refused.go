package kv

import (
	"slices"
	"strings"

	"edgetable/adapters/store/workerskv"
)

// refusals contains parts of the error messages of KV and the platform for a write that was not applied and will not be
// applied: too many writes of a name, too many writes in a day on the Free plan, or too many calls in an invocation.
// Such an error can be recognized only by its message.
var refusals = [...]string{"429", "limit exceeded", "Too many"}

// refusal is a [workerskv.ErrRefused] with the message of its cause, for the log.
type refusal struct{ cause error }

func (r *refusal) Error() string   { return r.cause.Error() }
func (r *refusal) Unwrap() []error { return []error{workerskv.ErrRefused, r.cause} }

// refused converts err to a refusal if its message contains one of refusals. Otherwise it returns err.
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
