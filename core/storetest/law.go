package storetest

import "testing"

// law is a named check. Each law runs with a new fixture.
type law struct {
	name  string
	check func(*env)
}

func run(t *testing.T, h Harness, laws []law) {
	t.Helper()
	for _, l := range laws {
		t.Run(l.name, func(t *testing.T) { l.check(open(t, h)) })
	}
}
