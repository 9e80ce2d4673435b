package optionsdoc

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"edgetable/core/payload"
	"edgetable/testdata/must"
)

var update = flag.Bool("update", false, "write docs/options.md and docs/tables.schema.json")

// TestOptionsPage compares the tables in docs/options.md, and the file docs/tables.schema.json, with the description in members.go. With -update it
// writes both files.
func TestOptionsPage(t *testing.T) {
	const page = "../../../docs/options.md"
	text, err := os.ReadFile(page)
	must.OK(t, err)
	got := string(text)
	for name, table := range map[string]string{"members": declared(t), "states": states()} {
		begin, end := "<!-- "+name+": go test ./functions/edgetable/optionsdoc -update -->\n\n", "\n<!-- end of "+name+" -->"
		before, rest, ok := strings.Cut(got, begin)
		_, after, ended := strings.Cut(rest, end)
		if !ok || !ended {
			t.Fatalf("%s has no place for the table of %s", page, name)
		}
		got = before + begin + table + end + after
	}
	compare(t, page, text, []byte(got))
	const schema = "../../../docs/tables.schema.json"
	text, err = os.ReadFile(schema)
	if !*update {
		must.OK(t, err)
	}
	compare(t, schema, text, Schema())
}

func compare(t *testing.T, path string, is, want []byte) {
	t.Helper()
	switch {
	case bytes.Equal(is, want):
	case *update:
		must.OK(t, os.WriteFile(path, want, 0o644))
	default:
		t.Errorf("%s does not say what members.go says; run this test with -update", path)
	}
}

// columns maps a member of a table's options document to a column of docs/stores.md. The column says which stores support the member. A test in
// core/storetest compares the columns with the stores.
var columns = map[string]string{"expire": "Expiry", "changes": "Feed"}

// stores returns the names of the stores with a yes in a column of docs/stores.md.
func stores(t *testing.T, column string) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/stores.md")
	must.OK(t, err)
	cells := func(row string) []string { return strings.Split(strings.Trim(row, "| "), " | ") }
	at, kept := -1, []string(nil)
	for line := range strings.Lines(string(text)) {
		row := cells(strings.TrimSpace(line))
		switch {
		case row[0] == "Store":
			at = slices.Index(row, column)
		case at >= 0 && at < len(row) && row[at] == "yes":
			name, _, _ := strings.Cut(row[0], ",")
			kept = append(kept, name)
		case at >= 0 && !strings.HasPrefix(line, "|"):
			return strings.Join(slices.Compact(kept), ", ")
		}
	}
	t.Fatalf("docs/stores.md has no column %s", column)
	return ""
}

// declared returns a Markdown table of those members of the options document that a user can set.
func declared(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| Member | Meaning | Stores |\n|---|---|---|\n")
	for _, m := range document {
		if m.state {
			continue
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", m.name, m.meaning, stores(t, columns[m.name]))
		for _, inner := range m.members {
			if !inner.state {
				fmt.Fprintf(&b, "| `%s.%s` | %s |  |\n", m.name, inner.name, inner.meaning)
			}
		}
	}
	return b.String()
}

// states builds a Markdown table of those members of the options document that only responses to GET contain.
func states() string {
	var b strings.Builder
	b.WriteString("| Member of the answer | Meaning |\n|---|---|\n")
	var list func(prefix string, all []member)
	list = func(prefix string, all []member) {
		for _, m := range all {
			if m.state {
				fmt.Fprintf(&b, "| `%s` | %s |\n", prefix+m.name, m.meaning)
			}
			list(prefix+m.name+".", m.members)
		}
	}
	list("", document)
	return b.String()
}

// The variable beyond lists values that the schema accepts although the parser refuses them.
var beyond = []string{`"PT0S"`, `"P36501D"`, `"P9999999999999D"`, `"aª"`}

// TestSchemaAgainstParser checks that the schema accepts exactly those documents that the parser accepts. The only exceptions are documents with
// one of the values in the variable named beyond. The test fails if the parser supports a member that this package does not describe.
func TestSchemaAgainstParser(t *testing.T) {
	var schema map[string]any
	must.OK(t, json.Unmarshal(Schema(), &schema))
	values := append([]string{
		`null`, `true`, `1`, `""`, `"x"`, `"ExpiresAt"`, `"Größe"`, `"_"`, `"a b"`, `"1a"`, `"Timestamp"`, `"RowKey"`, `"timestamp"`, `"2026-11-28T12:00:00Z"`,
		`"P30D"`, `"PT12H"`, `"P1DT30M"`, `"P2W1DT1H2M3S"`, `"PT1H3S"`, `"P1M"`, `"P1Y"`, `"P"`, `"PT"`, `"P1DT"`, `"P1H"`, `"PT1M1H"`, `"P1D1W"`, `"PT1.5H"`, `"-P1D"`,
		`{}`, `[]`, `[1]`, `{"a":1}`, `{"a":{}}`, `{"keep":"P7D"}`, `[{"name":"byBorn","on":["Born"]}]`,
	}, beyond...)
	names := []string{"expire", "ending", "changes", "indexes", "webhooks", "property", "after", "state", "undoUntil", "keep", "seconds", "Expire", ""}
	documents := slices.Clone(values)
	for _, name := range names {
		for _, v := range values {
			one := fmt.Sprintf(`{%q:%s}`, name, v)
			documents = append(documents, one, `{"ending":{"until":"x"},`+one[1:])
			for _, part := range names {
				documents = append(documents, fmt.Sprintf(`{%q:%s}`, part, one))
				for _, other := range []string{`"property":"E"`, `"after":"P1D"`, `"state":"active"`} {
					documents = append(documents, fmt.Sprintf(`{%q:%s,%s}`, part, one[:len(one)-1], other+"}"))
				}
			}
		}
	}
	accepted := 0
	for _, d := range documents {
		if twice(d) {
			continue // editors themselves report duplicate names
		}
		_, err := payload.ReadOptions([]byte(d))
		var whole any
		must.OK(t, json.Unmarshal([]byte(`{"$schema":"tables.schema.json","Sessions":`+d+`}`), &whole))
		refused := check(t, schema, schema, whole, "$")
		if err == nil {
			accepted++
		}
		unjudged := slices.ContainsFunc(beyond, func(v string) bool { return strings.Contains(d, v) })
		switch {
		case err == nil && refused != "":
			t.Errorf("the parser accepts %s, the schema does not: %s", d, refused)
		case err != nil && refused == "" && !unjudged:
			t.Errorf("the schema accepts %s, the parser does not: %v", d, err)
		}
	}
	if accepted < 100 || len(documents)-accepted < 1000 {
		t.Errorf("%d of %d documents are accepted, which compares little", accepted, len(documents))
	}
	for _, name := range []string{"a", "1abc", "a_b", "größe"} {
		if check(t, schema, schema, map[string]any{name: map[string]any{}}, "$") == "" {
			t.Errorf("the schema accepts a table %q", name)
		}
	}
}

// twice tells whether the document d contains a name twice. A schema cannot detect duplicate names.
func twice(d string) bool {
	for _, name := range []string{"property", "after", "keep", "state", "ending"} {
		if strings.Count(d, fmt.Sprintf("%q:", name)) > 1 {
			return true
		}
	}
	return false
}

// compiled caches the compiled patterns of the schema: each pattern is used thousands of times.
var compiled = map[string]*regexp.Regexp{}

func matches(pattern, text string) bool {
	if compiled[pattern] == nil {
		compiled[pattern] = regexp.MustCompile(pattern)
	}
	return compiled[pattern].MatchString(text)
}

// check validates a value against a JSON schema. If the value is invalid, it returns the reason. It implements only the keywords that our schema
// uses; other keywords fail the test.
func check(t *testing.T, root, s map[string]any, v any, path string) (refused string) {
	t.Helper()
	object, _ := v.(map[string]any)
	text, isText := v.(string)
	for keyword, want := range s {
		bad := ""
		switch keyword {
		case "$schema", "title", "description", "definitions", "readOnly", "examples", "doNotSuggest", "errorMessage", "patternErrorMessage", "properties", "patternProperties":
		case "$ref":
			name := strings.TrimPrefix(want.(string), "#/definitions/")
			bad = check(t, root, root["definitions"].(map[string]any)[name].(map[string]any), v, path)
		case "type":
			types, ok := want.([]any)
			if !ok {
				types = []any{want}
			}
			if !slices.Contains(types, any(kind(v))) {
				bad = fmt.Sprintf("%s is no %v", path, types)
			}
		case "pattern":
			if isText && !matches(want.(string), text) {
				bad = path + " is not as " + want.(string)
			}
		case "enum":
			if !slices.Contains(want.([]any), v) {
				bad = path + " is not in a list"
			}
		case "not":
			if check(t, root, want.(map[string]any), v, path) == "" {
				bad = path + " is in a list"
			}
		case "required":
			for _, name := range want.([]any) {
				if _, ok := object[name.(string)]; object != nil && !ok {
					bad = fmt.Sprintf("%s has no %s", path, name)
				}
			}
		case "anyOf":
			bad = path + " has none of several"
			for _, one := range want.([]any) {
				if check(t, root, one.(map[string]any), v, path) == "" {
					bad = ""
				}
			}
		case "additionalProperties":
			for name, inner := range object {
				if b := checkMember(t, root, s, name, inner, path); b != "" {
					bad = b
				}
			}
		default:
			t.Fatalf("this test does not know the keyword %s", keyword)
		}
		if bad != "" {
			refused = bad
		}
	}
	return refused
}

func checkMember(t *testing.T, root, s map[string]any, name string, v any, path string) string {
	t.Helper()
	inside := path + "." + name
	properties, _ := s["properties"].(map[string]any)
	if one, ok := properties[name].(map[string]any); ok {
		return check(t, root, one, v, inside)
	}
	patterns, _ := s["patternProperties"].(map[string]any)
	for pattern, one := range patterns {
		if matches(pattern, name) {
			return check(t, root, one.(map[string]any), v, inside)
		}
	}
	if others, ok := s["additionalProperties"].(map[string]any); ok {
		return check(t, root, others, v, inside)
	}
	return inside + " is unknown"
}

func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}
