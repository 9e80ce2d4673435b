package xml_test

import (
	"errors"
	"strings"
	"testing"

	"edgetable/core/xml"
)

func TestReaderRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, doc string
		offset   int
	}{
		{"nothing", "", 0},
		{"blanks", " \n", 2},
		{"only a declaration", `<?xml version="1.0"?>`, 21},
		{"text outside", `x<a/>`, 0},
		{"text behind", `<a/>x`, 4},
		{"a reference outside", `<a/>&#32;`, 4},
		{"second root", `<a/><b/>`, 4},
		{"second byte order mark", "\uFEFF\uFEFF<a/>", 3},
		{"blank before the declaration", ` <?xml version="1.0"?><a/>`, 1},
		{"declaration within", `<a><?xml version="1.0"?></a>`, 3},
		{"instruction with a reserved target", `<a/><?XML?>`, 4},
		{"other encoding", `<?xml version="1.0" encoding="utf-16"?><a/>`, 0},
		{"other version", `<?xml version="2.0"?><a/>`, 0},
		{"declaration without version", `<?xml encoding="utf-8"?><a/>`, 0},
		{"declaration in another order", `<?xml version="1.0" standalone="no" encoding="utf-8"?><a/>`, 0},
		{"declaration with more", `<?xml version="1.0" x="1"?><a/>`, 0},
		{"declaration cut off", `<?xml version="1.0"`, 0},
		{"document type", `<!DOCTYPE a><a/>`, 0},
		{"document type with entities", `<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>`, 0},
		{"declaration of markup inside", `<a><!ELEMENT b></a>`, 3},
		{"unknown entity", `<a>&nbsp;</a>`, 3},
		{"entity in another case", `<a>&LT;</a>`, 3},
		{"bare ampersand", `<a>x & y</a>`, 5},
		{"reference without end", `<a>&lt</a>`, 3},
		{"reference without digits", `<a>&#;</a>`, 3},
		{"reference without hexadecimal digits", `<a>&#x;</a>`, 3},
		{"upper-case X", `<a>&#X41;</a>`, 3},
		{"reference to NUL", `<a>&#0;</a>`, 3},
		{"reference to a control character", `<a>&#x1F;</a>`, 3},
		{"reference to a surrogate", `<a>&#xD800;</a>`, 3},
		{"reference to U+FFFE", `<a>&#xFFFE;</a>`, 3},
		{"reference beyond Unicode", `<a>&#x110000;</a>`, 3},
		{"reference that overflows", `<a>&#99999999999;</a>`, 3},
		{"reference without end in zeros", `<a>&#` + strings.Repeat("0", 1000) + `65;</a>`, 3},
		{"negative reference", `<a>&#-65;</a>`, 3},
		{"NUL", "<a>\x00</a>", 3},
		{"control character", "<a>1234567\x1b</a>", 10},
		{"control character in a comment", "<a><!--\x01--></a>", 7},
		{"U+FFFE", "<a>\uFFFE</a>", 3},
		{"U+FFFF behind much else", "<a>äöü12345678\uFFFF</a>", 17},
		{"not UTF-8", "<a>\xff</a>", 3},
		{"surrogate in UTF-8", "<a>\xed\xa0\x80</a>", 3},
		{"UTF-16", "\xff\xfe<\x00a\x00", 0},
		{"root does not end", `<a>`, 3},
		{"root does not end behind text", `<a>xyz`, 6},
		{"tag does not end", `<a><`, 3},
		{"start tag does not end", `<a `, 3},
		{"end tag does not end", `<a></a`, 6},
		{"end tag of another element", `<a><b></a></b>`, 6},
		{"end tag in another case", `<a></A>`, 3},
		{"end tag with another prefix for the same", `<p:a xmlns:p="u" xmlns:q="u"></q:a>`, 29},
		{"end tag first", `</a>`, 1},
		{"end tag with an attribute", `<a></a b="">`, 7},
		{"blank before a name", `< a/>`, 1},
		{"blank before the name of an end", `<a></ a>`, 5},
		{"blank within the end", `<a/ >`, 3},
		{"name with a digit first", `<1/>`, 1},
		{"two colons", `<a:b:c/>`, 4},
		{"colon first", `<:a/>`, 1},
		{"colon last", `<a:/>`, 3},
		{"× is no letter", `<×/>`, 1},
		{"ª is none in names of XML", `<ª/>`, 1},
		{"attribute without value", `<a b/>`, 4},
		{"attribute without quotes", `<a b=c/>`, 5},
		{"attribute that does not end", `<a b="c/>`, 6},
		{"attributes without a blank between", `<a b=""c=""/>`, 7},
		{"< in an attribute", `<a b="x<y"/>`, 7},
		{"bare ampersand in an attribute", `<a b="x&y"/>`, 7},
		{"attribute twice", `<a b="" b=""/>`, 14},
		{"attribute twice by namespace", `<a xmlns:p="u" xmlns:q="u" p:b="" q:b=""/>`, 42},
		{"attribute twice by a namespace of the element around", `<r xmlns:p="u"><a xmlns:q="u" p:b="" q:b=""/></r>`, 45},
		{"attribute twice by a namespace written in two ways", `<a xmlns:p="uv" xmlns:q="&#117;v" p:b="" q:b=""/>`, 49},
		{"attribute twice by the namespace of xml", `<a xmlns:xml="http://www.w3.org/XML/1998/namespace" xml:b="" xml:b=""/>`, 71},
		{"namespace twice", `<a xmlns:p="u" xmlns:p="v"/>`, 15},
		{"default namespace twice", `<a xmlns="u" xmlns="u"/>`, 13},
		{"prefix not declared", `<p:a/>`, 6},
		{"prefix of an attribute not declared", `<a p:b=""/>`, 11},
		{"prefix out of scope", `<a><b xmlns:p="u"/><p:c/></a>`, 25},
		{"prefix undeclared", `<a xmlns:p=""/>`, 3},
		{"xml as something else", `<a xmlns:xml="u"/>`, 3},
		{"something else as xml", `<a xmlns:p="http://www.w3.org/XML/1998/namespace"/>`, 3},
		{"xmlns declared", `<a xmlns:xmlns="u"/>`, 3},
		{"element with the prefix xmlns", `<xmlns:a/>`, 10},
		{"comment with --", `<!-- x -- y --><a/>`, 9},
		{"comment that does not end", `<!-- x`, 0},
		{"comment that ends in three", `<!-- x ---><a/>`, 9},
		{"instruction that does not end", `<?p x`, 0},
		{"instruction without a name", `<? x?><a/>`, 0},
		{"CDATA outside", `<![CDATA[x]]><a/>`, 0},
		{"CDATA that does not end", `<a><![CDATA[x]]</a>`, 12},
		{"cdata in lower case", `<a><![cdata[x]]></a>`, 3},
		{"]]> in text", `<a>x]]></a>`, 4},
		{"33 deep", strings.Repeat("<a>", 33), 96},
		{"nesting without end", strings.Repeat("<a>", 100_000), 96},
	} {
		_, err := events(c.doc)
		var at *xml.SyntaxError
		if !errors.As(err, &at) {
			t.Errorf("%s: %.80s: %v", c.why, c.doc, err)
		} else if at.Offset != c.offset {
			t.Errorf("%s: %.80s: %v, want byte %d", c.why, c.doc, err, c.offset)
		}
	}
}

// TestLimits checks that documents exactly within the limits are accepted, and others refused.
func TestLimits(t *testing.T) {
	t.Parallel()
	tag := func(n int, attribute string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(attribute, "N", string(rune('A'+i/26))+string(rune('a'+i%26))))
		}
		return "<a" + b.String() + "/>"
	}
	for why, c := range map[string]struct {
		doc string
		ok  bool
	}{
		"32 attributes": {tag(xml.MaxAttributes, ` N=""`), true},
		"33 attributes": {tag(xml.MaxAttributes+1, ` N=""`), false},
		"32 namespaces": {tag(xml.MaxNamespaces, ` xmlns:N="u"`), true},
		"33 namespaces": {tag(xml.MaxNamespaces+1, ` xmlns:N="u"`), false},
		"namespaces of elements that ended": {
			"<r>" + strings.Repeat(tag(xml.MaxNamespaces, ` xmlns:N="u"`), 3) + "</r>", true},
		"namespaces of elements that are open": {
			"<r xmlns='u'>" + tag(xml.MaxNamespaces, ` xmlns:N="u"`) + "</r>", false},
		"megabytes of names of namespaces on many elements": { // comparing the names byte by byte for each element would take seconds
			"<r xmlns:a='" + strings.Repeat("u", 700<<10) + "1' xmlns:b='" + strings.Repeat("u", 700<<10) + "2'>" +
				strings.Repeat("<e a:x='' b:x=''/>", 140_000) + "</r>", true},
		"a long text with many references": {"<a>" + strings.Repeat("&lt;x", 100_000) + "</a>", true},
	} {
		if _, err := events(c.doc); (err == nil) != c.ok {
			t.Errorf("%s: %v", why, err)
		}
	}
}
