package optionsdoc

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// Schema returns the JSON schema for the file of "edgetable tables apply". It uses three keywords of Visual Studio
// Code, which other editors ignore.
func Schema() []byte {
	options := object(document, false)
	options["title"] = "Options of a table"
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(map[string]any{
		"$schema":              "http://json-schema.org/draft-07/schema#",
		"title":                "Options of the tables of edgetable",
		"description":          "The options that 'edgetable tables apply' sets: one member for each table. Tables that the file does not name do not change; {} sets no options.",
		"type":                 "object",
		"properties":           map[string]any{"$schema": map[string]any{"type": "string", "description": "The schema of this file, for editors."}},
		"patternProperties":    map[string]any{tableName: map[string]any{"$ref": "#/definitions/options"}},
		"additionalProperties": false,
		"definitions":          map[string]any{"options": options},
	})
	if err != nil {
		panic(err) // encoding maps, lists and strings cannot fail
	}
	return b.Bytes()
}

// object returns the schema of an object with the given members. If null is set, the schema also permits null.
func object(members []member, null bool) map[string]any {
	properties := map[string]any{}
	for _, m := range members {
		s := map[string]any{}
		if m.members != nil {
			s = object(m.members, true)
		}
		for k, v := range m.schema {
			s[k] = v
		}
		if m.needsOne {
			var some []any
			for _, inner := range m.members {
				if !inner.state {
					some = append(some, map[string]any{"required": []string{inner.name}})
				}
			}
			s["anyOf"] = some
		}
		s["description"] = plainText(m.meaning)
		if m.state {
			s["description"] = "Only in responses to GET; ignored in a file: " + plainText(m.meaning)
			s["readOnly"] = true
			s["doNotSuggest"] = true
		}
		properties[m.name] = s
	}
	s := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if null {
		s["type"] = []string{"object", "null"}
	}
	return s
}

var link = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// plainText converts a phrase in Markdown to a plain sentence.
func plainText(markdown string) string {
	text := strings.ReplaceAll(link.ReplaceAllString(markdown, "docs/$1"), "`", "")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
