package transfer

import (
	"errors"
	"testing"
)

// TestFirstWriteFails checks that the other writes wait until a write has succeeded, because a failed write may have
// left no mark. Later writes must not wait for each other.
func TestFirstWriteFails(t *testing.T) {
	t.Parallel()
	var first firstWrite
	failed := errors.New("the connection broke")
	alone := func(result error) (alone bool) {
		err := first.do(func() error {
			if alone = !first.mu.TryLock(); !alone {
				first.mu.Unlock()
			}
			return result
		})
		if !errors.Is(err, result) {
			t.Error(err)
		}
		return alone
	}
	if !alone(failed) || !alone(nil) {
		t.Error("other writes may begin before a write has succeeded")
	}
	if alone(nil) {
		t.Error("a write waits for another one, although an earlier write has succeeded")
	}
}
