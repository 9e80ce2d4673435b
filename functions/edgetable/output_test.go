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

// marked is a word in the entities and in all other client data of the tests. No log may contain
// the word.
const marked = "Zaphod"

// outputs are the outputs of all programs that the tests started. After all tests, TestMain
// searches them for secrets.
var outputs struct {
	sync.Mutex
	list []output
}

type output struct {
	what string
	text func() string
}

// newBuffer returns a buffer for the standard error of a program. TestMain searches the buffer for
// secrets. It does not search standard output, because a user may request a key or an entity.
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

// keepFile registers a file that a program writes. At the end, TestMain searches the file for
// secrets.
func keepFile(t *testing.T, file string) {
	t.Cleanup(func() { // registered after the directory was made, so that the file is read before the directory is removed
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		keepOutput(file, func() string { return string(text) })
	})
}

// secret matches 32 bytes or more in base64, as in keys and signatures, also with URL escapes. It
// also matches the beginnings of the tests' keys, the text in the constant marked, and the name
// Ada.
var secret = regexp.MustCompile(`(?:[A-Za-z0-9+/_-]|%2[BbFf]){43}(?:=|%3[Dd])|` +
	regexp.QuoteMeta(key1[:12]) + "|" + regexp.QuoteMeta(key2[:12]) + "|" + regexp.QuoteMeta(accounts.DevelopmentKey[:12]) + `|(?i:` + marked + `)|\bAda\b`)

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

// TestSecret checks that the regular expression in the variable secret matches each kind of secret.
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
