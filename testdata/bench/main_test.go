package main_test

import (
	"bytes"
	"strings"
	"testing"

	bench "edgetable/testdata/bench"
)

// TestUsage checks that a wrong command line exits with 2 and an explanation, and that a request for help
// exits with 0.
func TestUsage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args string
		code int
		want string // part of standard output or error
	}{
		{"swim", 2, `unexpected argument "swim"`},
		{"ceiling -h", 0, "-kind"},
		{"ceiling -kind tall", 2, "one of null, write, read, page"},
		{"ceiling -kind write", 2, "needs -data"},
		{"-h", 0, "-azurite"},
		{"-short -full", 2, "exclude each other"},
		{"-ops insert,swim", 2, `unknown workload "swim"`},
		{"-edgetable no/such/file", 2, "no such file"},
		{"-parts all", 2, `unknown part "all"`},
		{"attack -kind gentle", 2, "one of scans, inserts, signins"},
		{"attack -endpoint nowhere", 2, "-endpoint"},
		{"start -starts 0", 2, "must be at least 1"},
		{"start -edgetable no/such/file", 2, "no such file"},
		{"start -edgetable /bin/false", 1, "the server ended before it was ready"},
		{"-cache 0", 2, "must be at least 1"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if code := bench.Dispatch(t.Context(), strings.Fields(tt.args), &out, &out); code != tt.code {
				t.Errorf("exit status %d, want %d", code, tt.code)
			}
			if !strings.Contains(out.String(), tt.want) {
				t.Errorf("output lacks %q:\n%s", tt.want, out.String())
			}
		})
	}
}
