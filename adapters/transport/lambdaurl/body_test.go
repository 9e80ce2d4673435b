package lambdaurl_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"edgetable/adapters/transport/lambdaurl"
)

func TestCutBody(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ event, rest, body, why string }{
		{`{"a":1,"body":"YQ==","b":2}`, `{"a":1,"body":"","b":2}`, `"YQ=="`, "in the middle"},
		{`{"body" : "a\"}" }`, `{"body" : "" }`, `"a\"}"`, "blanks, and a quote in it"},
		{`{"body":"a\\\\"}`, `{"body":""}`, `"a\\\\"`, "backslashes at its end"},
		{`{"c":{"body":"x"},"d":[{"body":"y"}],"body":""}`, `{"c":{"body":"x"},"d":[{"body":"y"}],"body":""}`, `""`, "others of the name further in"},
		{`{"x":"\"body\":\"z\"","body":"y"}`, `{"x":"\"body\":\"z\"","body":""}`, `"y"`, "a string that looks like it"},
		{`{"body":null}`, `{"body":null}`, "", "no string"},
		{`{"body":"x","body":"y"}`, `{"body":"x","body":"y"}`, "", "two"},
		{`{"a":"body","b":1}`, `{"a":"body","b":1}`, "", "a value"},
		{`{"body":"x`, `{"body":"x`, "", "no end"},
		{`{"body`, `{"body`, "", "not even of the name"},
		{`{"body"`, `{"body"`, "", "no value"},
		{``, ``, "", "nothing"},
	} {
		rest, body := lambdaurl.CutBody([]byte(tt.event))
		if string(rest) != tt.rest || string(body) != tt.body {
			t.Errorf("%s: %s leaves %s and %s", tt.why, tt.event, rest, body)
		}
	}
}

// FuzzCutBody compares the body that was cut out with the one that a JSON decoder finds.
func FuzzCutBody(f *testing.F) {
	for _, name := range []string{"function-url", "rest-api", "load-balancer-lists"} {
		f.Add(fixture(f, name))
	}
	f.Add([]byte(`{"body":"\\\"","BODY":"x"}`))
	f.Fuzz(func(t *testing.T, event []byte) {
		if bytes.Contains(event, []byte(`\u`)) {
			return // cutBody does not find an escaped name such as "bod\u0079", which no gateway writes
		}
		before := string(event)
		rest, quoted := lambdaurl.CutBody(event)
		if string(event) != before {
			t.Fatal("the event was changed")
		}
		if quoted == nil {
			if string(rest) != before {
				t.Errorf("%q left of %q", rest, event)
			}
			return
		}
		var whole, part map[string]json.RawMessage
		if err := json.Unmarshal(event, &whole); err != nil {
			if json.Valid(rest) && json.Valid(quoted) {
				t.Errorf("%q and %q are valid, but not %q", rest, quoted, event)
			}
			return
		}
		if err := json.Unmarshal(rest, &part); err != nil {
			t.Fatalf("%q left of %q: %v", rest, event, err)
		}
		if string(part["body"]) != `""` || string(whole["body"]) != string(quoted) || len(part) != len(whole) {
			t.Errorf("%q and %q of %q", rest, quoted, event)
		}
	})
}
