package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"edgetable/core/accounts"
	"edgetable/testdata/proc"
)

// marked is in values of entities of the tests, and in whatever else clients send
// that no log may show.
const marked = "Zaphod"

// outputs are what the programs of the tests wrote, to be searched for secrets.
var outputs struct {
	sync.Mutex
	list []output
}

type output struct {
	what string
	text func() string
}

// newBuffer makes the standard error of a program, which TestMain searches. Standard
// output is for what somebody asked for, which may be a key or an entity.
func newBuffer(args []string) *proc.Buffer {
	b := &proc.Buffer{}
	keepOutput(strings.Join(args, " "), b.String)
	return b
}

func keepOutput(what string, text func() string) {
	outputs.Lock()
	defer outputs.Unlock()
	outputs.list = append(outputs.list, output{what, text})
}

// keepFile has a file that a program writes searched.
func keepFile(t *testing.T, file string) {
	t.Cleanup(func() { // before the directory is removed
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		keepOutput(file, func() string { return string(text) })
	})
}

// secret finds 32 bytes or more in base64, which is a key or a signature, also in a
// URL; the beginnings of the keys of the tests; and marked values.
var secret = regexp.MustCompile(`(?:[A-Za-z0-9+/_-]|%2[BbFf]){43}(?:=|%3[Dd])|` +
	regexp.QuoteMeta(key1[:12]) + "|" + regexp.QuoteMeta(key2[:12]) + "|" + regexp.QuoteMeta(accounts.DevelopmentKey[:12]) + `|(?i:` + marked + `)|\bAda\b`)

// leaks searches all outputs and describes each secret found.
func leaks() (found []string) {
	outputs.Lock()
	defer outputs.Unlock()
	for _, o := range outputs.list {
		text := o.text()
		for _, at := range secret.FindAllStringIndex(text, 3) {
			found = append(found, fmt.Sprintf("%s shows %q:\n%s", o.what, text[at[0]:at[1]], text[max(at[0]-200, 0):min(at[1]+100, len(text))]))
		}
	}
	return found
}

// The search finds each kind of secret.
func TestSecret(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"acme:" + key1: true, "key 1 of acme is " + key2[:20]: true, accounts.DevelopmentKey: true,
		`source=127.0.0.1 sig="HjKAbcdefghijklmnopqrstuvwxyz0123456789+/ABCD="`: true,
		"sig=HjK%2Bbcdefghijklmnopqrstuvwxyz0123456789%2FABCDE%3D":              true,
		`PartitionKey eq 'zaphod'`:                                              true, `{"Name":"Ada"}`: true,
		"request=463a5dae-fd2b-40fb-c149-fafa09bb4a95 took_ms=1.5": false,
		"/tmp/TestLogKeepsSecrets/001/data":                        false,
		"Adapter":                                                  false,
	} {
		if got := secret.MatchString(text); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
