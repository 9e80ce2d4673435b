package settings_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"edgetable/core/settings"
	"edgetable/core/table"
)

// refusedFor checks the code and the message of an error. If the parameter want begins with the word
// InvalidXmlNodeValue, the code must be InvalidXmlNodeValue. Otherwise the code must be InvalidXmlDocument. The message
// must be the service's text, followed by a hint that contains the rest of want.
func refusedFor(t *testing.T, err error, want string) {
	t.Helper()
	code := table.InvalidXMLDocument
	if rest, ok := strings.CutPrefix(want, "InvalidXmlNodeValue "); ok {
		code, want = table.InvalidXMLNodeValue, rest
	}
	var e *table.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("got %v, want %s", err, code)
	}
	detail, ok := strings.CutPrefix(e.Message, code.Err().Message+" ")
	if !ok || !strings.Contains(detail, want) {
		t.Errorf("the message is %q, want the service's text and %q", e.Message, want)
	}
}

// wellFormed checks with encoding/xml that a document is well-formed.
func wellFormed(t *testing.T, doc []byte) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(doc)))
	for {
		_, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", doc, err)
		}
	}
}

// TestMalformed checks that every function that parses a document refuses a body that is not XML, and a document of
// another kind.
func TestMalformed(t *testing.T) {
	t.Parallel()
	readers := map[string]func(body string) error{
		"SignedIdentifiers": func(body string) error {
			_, err := settings.ParsePolicies([]byte(body))
			return err
		},
		"StorageServiceProperties": func(body string) error {
			p := settings.Defaults()
			return p.Update([]byte(body))
		},
		"KeyInfo": func(body string) error {
			_, _, err := settings.ParseKeyInfo([]byte(body))
			return err
		},
	}
	for root, read := range readers {
		for _, c := range []struct{ why, body, want string }{
			{"a byte order mark alone is not an empty body", "\uFEFF", "no element"},
			{"neither are blanks", " \r\n", "no element"},
			{"not XML", "hello", "text outside"},
			{"cut off", "<" + root + "><a>", "has no end tag"},
			{"another root", "<Other />", root + ": the root element must have this name"},
			{"the root in other letters", "<" + strings.ToLower(root) + "/>", "root element"},
			{"two roots", "<" + root + "/><" + root + "/>", ""},
			{"tags that do not match", "<" + root + "><a></b></" + root + ">", "at byte"},
			{"a document type", "<!DOCTYPE a []><" + root + "/>", "at byte"},
			{"not UTF-8", "<" + root + ">\xff</" + root + ">", "UTF-8"},
			{"text between elements", "<" + root + "> a <b/></" + root + ">", "text between the elements"},
			{"malformed within what is skipped", "<" + root + "><a>&b;</a></" + root + ">", "at byte"},
		} {
			t.Run(root+"/"+c.why, func(t *testing.T) {
				t.Parallel()
				refusedFor(t, read(c.body), c.want)
			})
		}
	}
}
