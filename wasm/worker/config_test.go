package main

import (
	"strings"
	"testing"
	"time"

	"edgetable/adapters/setting"
	"edgetable/core/accounts"
)

const acme = "EDGETABLE_ACCOUNTS=acme:c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IDEyMzQ="

func variables(list ...string) string { return strings.Join(list, "\x00") + "\x00" }

func TestConfig(t *testing.T) {
	t.Parallel()
	c, err := readConfig(variables(acme))
	if err != nil {
		t.Fatal(err)
	}
	if c.accounts["acme"] == nil || c.pathStyle || c.extensions || c.maxSkew != 15*time.Minute || c.settingsAge != 30*time.Second || c.scannedBytes != 8<<20 || c.buckets != 1 || c.location != "" || c.rates != (setting.Rates{}) || c.replica != "" || c.jurisdiction != "" {
		t.Errorf("the least there is: %+v", c)
	}
	c, err = readConfig(variables("OTHER=x", "EDGETABLE_ACCOUNTS=\n# ours\nacme:c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IDEyMzQ=:b3RoZXIgb3RoZXIgb3RoZXIgb3RoZXIgb3RoZXIgMTI= allow=10.0.0.0/8\nother:c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IDEyMzQ= disabled\n",
		"EDGETABLE_PATH_STYLE=true", "EDGETABLE_EXTENSIONS=true", "EDGETABLE_MAX_SKEW=1h30m", "EDGETABLE_SETTINGS_AGE=0", "EDGETABLE_BUCKETS=8", "EDGETABLE_SPLIT_BYTES=65536", "EDGETABLE_SPLIT_RATE=0", "EDGETABLE_LOCATION=eu/weur", "EDGETABLE_CATALOG_LOCATION=eu",
		"EDGETABLE_SCANNED_BYTES=65536", "EDGETABLE_LIMITS=account=20,partition=2.5", "EDGETABLE_MAX_FAILURES=3", "EDGETABLE_REPLICA=bound", "EDGETABLE_REPLICA_NAME=second", "EDGETABLE_REPLICA_JURISDICTION=eu"))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.accounts) != 2 || len(c.accounts["acme"].Firewall.Allow) != 1 || !c.accounts["other"].Disabled || !c.pathStyle || !c.extensions || c.maxSkew != 90*time.Minute || c.settingsAge != 1 || c.buckets != 8 || c.splitBytes != 65536 || c.splitRate != 0 ||
		c.location != "eu/weur" || c.catalog != "eu" || c.scannedBytes != 65536 || c.rates != (setting.Rates{Account: 20, Partition: 2.5}) || c.failures != 3 || c.replica != "second" || c.jurisdiction != "eu" {
		t.Errorf("everything: %+v", c)
	}
}

func TestConfigErrors(t *testing.T) {
	t.Parallel()
	development := accounts.Variable + "=" + accounts.Development + ":" + accounts.DevelopmentKey
	for _, tt := range []struct {
		text, say, why string
	}{
		{"", "names no account", "no accounts"},
		{"EDGETABLE_ACCOUNTS=acme:sec ret", "acme", "a key with a blank"},
		{variables(development), "known to everybody", "the account of development"},
		{variables("EDGETABLE_ACCOUNTS=own:" + accounts.DevelopmentKey), "known to everybody", "its key for another name"},
		{variables(acme, "EDGETABLE_DEVELOPMENT=yes"), "true or false", "neither true nor false"},
		{variables(acme, "EDGETABLE_BUCKETS=0"), "number", "no bucket"},
		{variables(acme, "EDGETABLE_SPLIT_BYTES=10e9"), "number", "more than an object holds"},
		{variables(acme, "EDGETABLE_REPLICA=true"), "bind a namespace", "a variable where a binding is meant"},
		{variables(acme, "EDGETABLE_REPLICA_JURISDICTION=weur"), "such as eu", "a hint, which promises nothing"},
		{variables(acme, "EDGETABLE_REPLICA_JURISDICTION=eu/weur"), "such as eu", "a hint besides"},
		{variables(acme, "EDGETABLE_REPLICA=bound", "EDGETABLE_CATALOG_LOCATION=eu/weur"), "the catalogs are in eu", "a replica in which nothing can be published"},
		{variables(acme, "EDGETABLE_REPLICA=bound", "EDGETABLE_CATALOG_LOCATION=eu", "EDGETABLE_REPLICA_JURISDICTION=us"), "the catalogs are in eu", "nor in one elsewhere"},
		{variables(acme, "EDGETABLE_MAX_SKEW=900"), "write a duration with its unit", "seconds without their unit"},
		{variables(acme, "EDGETABLE_SETTINGS_AGE=2h"), "from 0s to 1h", "CORS rules that hardly ever count"},
		{"EDGETABLE_ACCOUNTS=acme:c2hvcnQ=", "key 1 of acme has 5 bytes, but needs at least 32", "a key that can be guessed"},
		{variables(acme, "EDGETABLE_LIMITS=tables=1"), "EDGETABLE_LIMITS", "a rate that is not known"},
		{variables(acme, "EDGETABLE_LIMITS=account=NaN"), "EDGETABLE_LIMITS", "a rate that is none"},
	} {
		_, err := readConfig(tt.text)
		if err == nil || !strings.Contains(err.Error(), tt.say) {
			t.Errorf("%s: %v", tt.why, err)
		} else if strings.Contains(err.Error(), "sec ret") || strings.Contains(err.Error(), accounts.DevelopmentKey) {
			t.Errorf("%s: the key is in %v", tt.why, err)
		}
	}
	for why, text := range map[string]string{
		"the account of development where it is allowed": variables(development, "EDGETABLE_DEVELOPMENT=true"),
		"catalogs in a jurisdiction, without a replica":  variables(acme, "EDGETABLE_CATALOG_LOCATION=eu"),
		"catalogs that may be anywhere, with a replica":  variables(acme, "EDGETABLE_CATALOG_LOCATION=weur", "EDGETABLE_REPLICA=bound", "EDGETABLE_REPLICA_JURISDICTION=eu"),
		"new tables that are not published":              variables(acme, "EDGETABLE_LOCATION=eu", "EDGETABLE_REPLICA=bound"),
	} {
		if _, err := readConfig(text); err != nil {
			t.Errorf("%s: %v", why, err)
		}
	}
}
