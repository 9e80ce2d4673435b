package main_test

import (
	"bytes"
	"strings"
	"testing"

	tablebench "edgetable/functions/tablebench"
	"edgetable/functions/tablebench/internal/ceiling"
	"edgetable/functions/tablebench/internal/ceiling/ceilingtest"
	"edgetable/functions/tablebench/internal/load"
)

// TestUsage: wrong arguments end with 2 and say what is wrong; help ends with 0.
func TestUsage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args string
		code int
		want string // somewhere on standard output or error
	}{
		{"", 2, "Usage: tablebench COMMAND"},
		{"help", 0, "ceiling"},
		{"swim", 2, `unknown command "swim"`},
		{"load -h", 0, "-connections"},
		{"load -connections many", 2, `invalid value "many"`},
		{"load -connections 0", 2, "1 to 10000"},
		{"load -op swim", 2, "insert, upsert, merge"},
		{"load -duration 0s", 2, "-duration must be positive"},
		{"load -entities 0", 2, "-entities must be"},
		{"load -op query -rows 2000", 2, "a page holds no more"},
		{"load -endpoint 127.0.0.1:10002", 2, "http(s)://host"},
		{"load -key secret! -account a", 2, "base64"},
		{"load insert", 2, `unexpected argument "insert"`},
		{"ceiling -h", 0, "-kind"},
		{"ceiling -kind tall", 2, "one of null, write, read, page"},
		{"ceiling -kind write", 2, "needs -data"},
		{"suite -h", 0, "-azurite"},
		{"suite -short -full", 2, "exclude each other"},
		{"suite -ops insert,swim", 2, `unknown workload "swim"`},
		{"suite -edgetable no/such/file", 2, "no such file"},
		{"suite -parts all", 2, `unknown part "all"`},
		{"load -format xml", 2, "json or atom"},
		{"load -refused never", 2, "fails, waits or atonce"},
		{"suite -cache 0", 2, "must be at least 1"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if code := tablebench.Dispatch(t.Context(), strings.Fields(tt.args), &out, &out); code != tt.code {
				t.Errorf("exit status %d, want %d", code, tt.code)
			}
			if !strings.Contains(out.String(), tt.want) {
				t.Errorf("output lacks %q:\n%s", tt.want, out.String())
			}
			if strings.Contains(out.String(), "secret!") {
				t.Errorf("output repeats the key:\n%s", out.String())
			}
		})
	}
}

// TestLoadJudges runs the command against ceilings: the null ceiling answers inserts rightly and gets wrongly.
func TestLoadJudges(t *testing.T) {
	t.Parallel()
	h, err := ceiling.New(ceiling.Null, "", ceiling.Account, ceiling.Key, "t", load.Layout{})
	if err != nil {
		t.Fatal(err)
	}
	url := ceilingtest.Serve(t, h)
	for _, tt := range []struct {
		op   string
		code int
		want string
	}{
		{"insert", 0, "errors 0"},
		{"get", 1, "status 204, want 200"},
	} {
		args := []string{"load", "-endpoint", url + "/" + ceiling.Account, "-op", tt.op, "-filled", "-keep", "-duration", "200ms", "-warmup", "0s"}
		var out bytes.Buffer
		if code := tablebench.Dispatch(t.Context(), args, &out, &out); code != tt.code || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%s: exit status %d, want %d and %q:\n%s", tt.op, code, tt.code, tt.want, out.String())
		}
	}
}
