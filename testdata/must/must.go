// Package must has helpers for tests: they end a test if its setup fails.
package must

import "testing"

// OK ends the test if there is an error.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
