package payload_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/core/table"
)

// FuzzEntityJSON compares the reader with encoding/json and with the writer. An accepted body must be valid JSON with
// the same values. A body that the reader refuses as malformed must be invalid JSON. Writing an entity and reading it
// again must give the same entity.
func FuzzEntityJSON(f *testing.F) {
	f.Add([]byte(`{"PartitionKey":"p","RowKey":"r","a":1,"b":1.5,"c":"x","d":true,"e":null}`))
	f.Add(kilobyte())
	f.Add([]byte("\uFEFF { \"a\" : \"\\ud83d\\ude00\\ud800 ä\\u0000\" } "))
	f.Fuzz(func(t *testing.T, body []byte) {
		given := bytes.Clone(body)
		e, err := payload.ReadEntity(body)
		if !bytes.Equal(body, given) {
			t.Fatal("ReadEntity changed the body")
		}
		text, _ := bytes.CutPrefix(body, []byte("\uFEFF"))
		members, plain := plainObject(text)
		if err != nil {
			var refused *table.Error
			if !errors.As(err, &refused) || refused.Status() != 400 {
				t.Fatalf("the error is not of the protocol: %v", err)
			}
			if plain && utf8.Valid(text) && strings.Contains(refused.Message, "Malformed") {
				t.Fatalf("valid JSON is refused: %v", err)
			}
			return
		}
		body = bytes.TrimSpace(text)
		if !utf8.Valid(text) || json.Valid(text) && !plain || !bytes.HasPrefix(body, []byte("{")) || !bytes.HasSuffix(body, []byte("}")) {
			t.Fatal("a body is accepted that is no object of single values")
		}
		if !e.Properties.Valid() || e.Properties.Count() > table.MaxProperties {
			t.Fatal("properties are damaged")
		}
		for name, v := range e.Properties.All() {
			if _, annotated := members[name+"@odata.type"]; plain && !annotated { // not valid JSON, but accepted: see relaxed.go
				same(t, name, members[name], v)
			}
		}
		view := payload.View{Format: payload.Minimal, Base: "https://acct.table.core.windows.net/", Account: "acct", Table: "mytable"}
		written := view.AppendEntity(nil, e.PartitionKey, e.RowKey, edm.MaxDateTime, e.Properties)
		again, err := payload.ReadEntity(written)
		if err != nil {
			t.Fatalf("%s cannot be read again: %v", written, err)
		}
		if again.PartitionKey != e.PartitionKey || again.RowKey != e.RowKey || !bytes.Equal(again.Properties, e.Properties) {
			t.Fatalf("%s is another entity", written)
		}
		for _, c := range written {
			if c < 0x20 || c > 0x7F {
				t.Fatalf("%q is not plain ASCII", written)
			}
		}
	})
}

// FuzzEntityAtom checks that an accepted entity is within the limits. Writing it as Atom and reading it again must
// give the same entity. Writing it as JSON and reading it again must also give the same entity, if JSON can represent
// it.
func FuzzEntityAtom(f *testing.F) {
	f.Add([]byte(atomStart + `<d:PartitionKey>p</d:PartitionKey><d:RowKey>r</d:RowKey><d:a m:type="Edm.Double">-INF</d:a><d:b xml:space="preserve"> &#xD;&lt;</d:b><d:c m:null="true" />` + atomEnd))
	f.Add([]byte(`<e:entry xmlns:e="http://www.w3.org/2005/Atom"><properties xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><a xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices"><![CDATA[<]]></a></properties></e:entry>`))
	f.Fuzz(func(t *testing.T, body []byte) {
		given := bytes.Clone(body)
		e, err := payload.ReadAtomEntity(body)
		if !bytes.Equal(body, given) {
			t.Fatal("ReadAtomEntity changed the body")
		}
		if err != nil {
			var refused *table.Error
			if !errors.As(err, &refused) || refused.Status() != 400 {
				t.Fatalf("the error is not of the protocol: %v", err)
			}
			return
		}
		if !e.Properties.Valid() || e.Properties.Count() > table.MaxProperties {
			t.Fatal("properties are damaged")
		}
		for name, v := range e.Properties.All() {
			if table.CheckPropertyName(name) != nil || table.CheckValue(name, v) != nil {
				t.Fatalf("an invalid property was accepted: %q, %v", name, v)
			}
		}
		for _, format := range []payload.Format{payload.Atom, payload.Minimal} {
			view := payload.View{Format: format, Base: "https://acct.table.core.windows.net/", Account: "acct", Table: "mytable", Now: edm.MaxDateTime}
			written := view.AppendEntity(nil, e.PartitionKey, e.RowKey, edm.MaxDateTime, e.Properties)
			if view.Err() != nil {
				t.Fatalf("XML cannot hold properties that were read from XML: %q", e.Properties)
			}
			read := payload.ReadEntity
			if format == payload.Atom {
				read = payload.ReadAtomEntity
			}
			again, err := read(written)
			if err != nil {
				t.Fatalf("%s cannot be read again: %v", written, err)
			}
			if again.PartitionKey != e.PartitionKey || again.RowKey != e.RowKey || !bytes.Equal(again.Properties, e.Properties) {
				t.Fatalf("%s is another entity", written)
			}
		}
	})
}

// plainObject parses a JSON object that contains no objects or arrays.
func plainObject(body []byte) (members map[string]any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if d.Decode(&members) != nil || members == nil || !json.Valid(body) {
		return nil, false
	}
	// The map hides a nested value if a later member has the same name, so search the tokens for nested values.
	d = json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	for depth := 0; ; {
		token, err := d.Token()
		if err != nil {
			return members, true
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > 1 {
				return nil, false
			}
		}
	}
}

// same compares a property without an annotation with the value that encoding/json parsed.
func same(t *testing.T, name string, want any, got edm.Value) {
	t.Helper()
	ok := false
	switch want := want.(type) {
	case string:
		ok = got == edm.String(want)
	case bool:
		ok = got == edm.Boolean(want)
	case json.Number:
		if i, err := want.Int64(); err == nil && got.Type() == edm.TypeInt32 {
			ok = got.Int() == i
		} else if f, err := want.Float64(); err == nil {
			ok = got == edm.Double(f)
		}
	}
	if !ok {
		t.Errorf("%q: %v is read as %v %v", name, want, got.Type(), got)
	}
}
