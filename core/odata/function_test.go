package odata_test

import (
	"errors"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
)

// TestFunctions checks the results of functions for one entity.
func TestFunctions(t *testing.T) {
	t.Parallel()
	p := edm.AppendProperty(nil, "Name", edm.String("Ada 😀 Lovelace"))
	p = edm.AppendProperty(p, "Age", edm.Int32(36))
	p = edm.AppendProperty(p, "Photo", edm.Binary([]byte("Ada")))
	k := key.Append(nil, "p\uE000x", "r1")
	for text, want := range map[string]bool{
		"startswith(Name,'Ada')":                                       true,
		"startswith(Name,'ada')":                                       false,
		"startswith(Name,'')":                                          true,
		"endswith(Name,'lace')":                                        true,
		"endswith(Name,'Lace')":                                        false,
		"contains(Name,'😀')":                                           true,
		"substringof('a 😀',Name)":                                      true,
		"substringof('Name',Name)":                                     false,
		"contains(Name,'x Ada 😀 Lovelace')":                            false,
		"contains(Age,'3')":                                            false,
		"contains(Photo,'Ada')":                                        false,
		"contains(Missing,'')":                                         false,
		"not contains(Missing,'')":                                     true,
		"contains(Missing,'') eq false":                                true,
		"contains(Missing,'') ne true":                                 true,
		"startswith(PartitionKey,'p\uE000')":                           true,
		"contains(PartitionKey,'\uE000x')":                             true,
		"endswith(RowKey,'1') and true eq startswith(RowKey,'r')":      true,
		"startswith(Name,'A') and (endswith(RowKey,'2') or Age eq 36)": true,
	} {
		if got := mustParse(t, text).Match(k, edm.MinDateTime, p); got != want {
			t.Errorf("%s is %v", text, got)
		}
	}
	if mustParse(t, "startswith(RowKey,'')").Match(nil, 0, p) {
		t.Error("an object without keys has a RowKey")
	}
}

// TestWrongCalls checks the errors for calls of functions with wrong names or arguments.
func TestWrongCalls(t *testing.T) {
	t.Parallel()
	const notThere = "The requested operation is not implemented on the specified resource. "
	signature := func(name, usage string) string {
		return "No function signature for the function with name '" + name + "' matches the specified arguments. Write " + usage + "."
	}
	for text, want := range map[string]string{
		"tolower(A) eq 'x'":               notThere + "Only the functions startswith, endswith, contains and substringof are supported.",
		"startswith(tolower(A),'x')":      notThere + "Only the functions startswith, endswith, contains and substringof are supported.",
		"startswith(contains(A,'b'),'x')": notThere + "The arguments of a function must be a property and a string, not another function.",
		"StartsWith(A,'x')":               notThere + "Only the functions startswith, endswith, contains and substringof are supported.",
		"startswith('x',A)":               signature("startswith", "startswith(Property,'text')"),
		"substringof(A,'x')":              signature("substringof", "substringof('text',Property)"),
		"contains(A,B)":                   signature("contains", "contains(Property,'text')"),
		"contains(A,5)":                   signature("contains", "contains(Property,'text')"),
		"contains(Timestamp,'2026')":      signature("contains", "contains(Property,'text')"),
		"contains('a','b')":               signature("contains", "contains(Property,'text')"),
		"contains(A,'b') eq 5":            "A binary operator with incompatible types was detected. Found operand types 'Edm.Boolean' and 'Edm.Int32' for operator kind 'Equal'.",
		"contains(A,'b') gt true":         notThere + "The result of a function can only be compared with true or false, using eq or ne.",
		"contains(A,'b') eq B":            notThere + "The result of a function can only be compared with true or false, using eq or ne.",
		"contains(A,'b'":                  "')' or ',' expected at position 14 in 'contains(A,'b''.",
		"contains(A 'b')":                 "')' or ',' expected at position 11 in 'contains(A 'b')'.",
		"contains(A,'b','c')":             "')' or ',' expected at position 14 in 'contains(A,'b','c')'.",
		"contains()":                      "Expression expected at position 9 in 'contains()'.",
		"(not contains(A,'b')) eq true":   "Syntax error at position 24 in '(not contains(A,'b')) eq true'.",
		"contains(A,null)":                odata.ErrNull.Error(),
		"not NOT(A eq 1)":                 "Syntax error at position 8 in 'not NOT(A eq 1)'.",
	} {
		if f, err := odata.ParseExtended(text); f != nil || err == nil || err.Error() != want {
			t.Errorf("%s: %v, %v\nwant %s", text, f, err, want)
		}
	}
	for text, want := range map[string]string{
		"startswith(A,'x')":          " startswith needs a server with --extensions (EDGETABLE_EXTENSIONS=true).",
		"substringof('x',A) eq true": " substringof needs a server with --extensions (EDGETABLE_EXTENSIONS=true).",
		"tolower(A) eq 'x'":          "",
	} {
		_, err := odata.Parse(text)
		want = notThere + "Functions are not supported; Name ge 'ab' and Name lt 'ac' finds values that begin with ab." + want
		if !errors.Is(err, odata.ErrNotImplemented) || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
}
