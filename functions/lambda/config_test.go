package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

func variables(pairs ...string) func(string) string {
	return func(name string) string {
		for _, pair := range pairs {
			if key, value, _ := strings.Cut(pair, "="); key == name {
				return value
			}
		}
		return ""
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	const region, table = "AWS_REGION=eu-central-1", "EDGETABLE_DYNAMODB_TABLE=tables"
	for _, tt := range []struct {
		env []string
		say string // part of the error's text; "" if no error is expected
		why string
	}{
		{[]string{region, table, "EDGETABLE_ACCOUNTS_SECRET=s"}, "", "the least there is"},
		{[]string{"AWS_DEFAULT_REGION=eu-central-1", table, "EDGETABLE_ACCOUNTS=acme:" + key1}, "", "the region by its other name"},
		{[]string{region, table}, "", "a function that purges has no accounts"},
		{[]string{region, table, "EDGETABLE_ACCOUNTS_PARAMETER=/p", "EDGETABLE_ACCOUNTS_REFRESH=10s", "EDGETABLE_BUCKETS=1",
			"EDGETABLE_SCANNED_BYTES=1048576", "EDGETABLE_STREAMING=true", "EDGETABLE_PATH_STYLE=false", "EDGETABLE_EXTENSIONS=true", "EDGETABLE_FORWARD_SECRET=f"}, "", "everything"},
		{[]string{region, table, "EDGETABLE_ROLE=secondary"}, "", "a secondary"},
		{[]string{region, table, "EDGETABLE_ROLE=follower"}, "EDGETABLE_ROLE=\"follower\" is unknown: write alone, primary or secondary", "another word for it"},
		{[]string{table}, "AWS_REGION", "no region"},
		{[]string{region}, "EDGETABLE_DYNAMODB_TABLE", "no table"},
		{[]string{region, table, "EDGETABLE_ACCOUNTS_SECRET=s", "EDGETABLE_ACCOUNTS=acme:" + key1}, "exclude each other", "two places"},
		{[]string{region, table, "EDGETABLE_BUCKETS=0"}, "EDGETABLE_BUCKETS=\"0\": write a whole number from 1 to 256", "no buckets"},
		{[]string{region, table, "EDGETABLE_BUCKETS=300"}, "EDGETABLE_BUCKETS", "too many"},
		{[]string{region, table, "EDGETABLE_LEASE=0s", "EDGETABLE_SETTINGS_AGE=0s"}, "", "nothing is cached"},
		{[]string{region, table, "EDGETABLE_LEASE=1m"}, "EDGETABLE_LEASE=\"1m\": write a duration with its unit, such as 500ms, 10s, 15m or 30d, from 0s to 10s", "a table would take a minute to delete"},
		{[]string{region, table, "EDGETABLE_LEASE=-1s"}, "EDGETABLE_LEASE", "a negative time"},
		{[]string{region, table, "EDGETABLE_SETTINGS_AGE=24h"}, "EDGETABLE_SETTINGS_AGE", "CORS rules that hardly ever count"},
		{[]string{region, table, "EDGETABLE_OIDC_ISSUER=https://login.example.com/", "EDGETABLE_OIDC_AUDIENCES=a, b"}, "", "bearer tokens"},
		{[]string{region, table, "EDGETABLE_OIDC_ISSUER=https://login.example.com/"}, "EDGETABLE_OIDC_…: oidc: no audience", "tokens for whatever service"},
		{[]string{region, table, "EDGETABLE_OIDC_ISSUER=http://login.example.com/", "EDGETABLE_OIDC_AUDIENCES=a"}, "must be an https URL", "keys that anybody may change on the way"},
		{[]string{region, table, "EDGETABLE_OIDC_READERS=a"}, "EDGETABLE_OIDC_…: oidc: no issuer", "roles of nobody"},
		{[]string{region, table, "EDGETABLE_SCANNED_BYTES=8MiB"}, "EDGETABLE_SCANNED_BYTES", "a unit"},
		{[]string{region, table, "EDGETABLE_STREAMING=yes"}, "write true or false", "another word"},
		{[]string{region, table, "EDGETABLE_PATH_STYLE=1"}, "write true or false", "a number"},
		{[]string{region, table, "EDGETABLE_ACCOUNTS_REFRESH=5"}, "write a duration", "no unit"},
		{[]string{region, table, "EDGETABLE_ACCOUNTS_REFRESH=0s"}, "write a duration", "all the time"},
		{[]string{region, table, "EDGETABLE_ACCOUNTS_REFRESH=24h"}, "write a duration", "hardly ever"},
	} {
		c, err := newConfig(variables(tt.env...), slog.New(slog.DiscardHandler))
		if (err == nil) != (tt.say == "") || err != nil && !strings.Contains(err.Error(), tt.say) {
			t.Errorf("%s: %v, want %q", tt.why, err, tt.say)
		}
		if err == nil && (c.region != "eu-central-1" || c.table != "tables") {
			t.Errorf("%s: %+v", tt.why, c)
		}
		if err != nil && strings.Contains(err.Error(), key1[:8]) {
			t.Errorf("%s: the error shows a key: %v", tt.why, err)
		}
	}
}

// TestMisspelledVariable checks that the log names a variable of edgetable that the function does not read. A wrong name
// of EDGETABLE_ROLE, for example, would make a second Region write.
func TestMisspelledVariable(t *testing.T) {
	t.Parallel()
	all := []string{"AWS_REGION=eu-central-1", "AWS_UNKNOWN=1", "EDGETABLE_DYNAMODB_TABLE=tables", "EDGETABLE_ACCOUNTS=acme:" + key1,
		"EDGETABLE_OIDC_READERS=", "EDGETABLE_EMPTY=", "EDGETABLE_ROLL=secondary"}
	var log bytes.Buffer
	newFunction(variables(all...), all, slog.New(slog.NewJSONHandler(&log, nil)))
	if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), `"the function does not read this variable","variable":"EDGETABLE_ROLL"}`) {
		t.Errorf("the log has %d lines:\n%s", n, &log)
	}
}
