package xml_test

import (
	"errors"
	"strings"
	"testing"

	"edgetable/core/xml"
)

func TestAppend(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ why, in, text, attr string }{
		{"nothing", "", "", ""},
		{"what needs no care", "aZ09 /=;~\x7f", "aZ09 /=;~\x7f", "aZ09 /=;~\x7f"},
		{"markup", "<a>&amp;]]>", "&lt;a&gt;&amp;amp;]]&gt;", "&lt;a&gt;&amp;amp;]]&gt;"},
		{"quotes matter in attributes", `"'`, `"'`, "&quot;&#39;"},
		{"neighbours of what is escaped", "!#%(;=?", "!#%(;=?", "!#%(;=?"},
		{"a carriage return would be read as a line feed", "\r\n", "&#xD;\n", "&#xD;&#xA;"},
		{"a tab in an attribute would be read as a blank", "\t", "\t", "&#x9;"},
		{"any script stays as it is", "äя€😀\u0085\u2028", "äя€😀\u0085\u2028", "äя€😀\u0085\u2028"},
		{"what XML cannot hold", "\x00\x08\x0b\x1f\uFFFE\uFFFF\xff", strings.Repeat("\uFFFD", 7), strings.Repeat("\uFFFD", 7)},
		{"among what it can", "ä\uFFFEя\xffz", "ä\uFFFDя\uFFFDz", "ä\uFFFDя\uFFFDz"},
		{"a surrogate in UTF-8", "\xed\xa0\x80", strings.Repeat("\uFFFD", 3), strings.Repeat("\uFFFD", 3)},
	} {
		// Wherever in a word of eight bytes the characters are.
		for pad := range 9 {
			before, after := strings.Repeat("x", pad), strings.Repeat("y", 8-pad)
			if got, want := string(xml.AppendText(nil, before+c.in+after)), before+c.text+after; got != want {
				t.Errorf("%s behind %d as text: got %q, want %q", c.why, pad, got, want)
			}
			if got, want := string(xml.AppendAttr(nil, before+c.in+after)), before+c.attr+after; got != want {
				t.Errorf("%s behind %d as an attribute: got %q, want %q", c.why, pad, got, want)
			}
			lost := strings.Contains(c.text, "\uFFFD")
			if xml.Representable(before+c.in+after) == lost {
				t.Errorf("%s behind %d: Representable is %v", c.why, pad, lost)
			}
		}
	}
	if !xml.Representable("\uFFFD") {
		t.Error("U+FFFD itself is a character of XML")
	}
}

func TestIsName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"a": true, "_": true, "Age": true, "a1-._": true, "çñ": true, "Имя": true, "名前1": true, "é": true, "a·": true, "Ⅷ": true, "a‿": true,
		"": false, "1": false, "-": false, ".a": false, "a b": false, "a:b": false, "a>": false, "·": false,
		"ª": false, "aµ": false, "º": false, "a⁔": false, "×": false, "a\xff": false, "😀": true,
	} {
		if got := xml.IsName(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
		_, err := events("<" + name + "/>")
		if want != (err == nil) && name != "a:b" {
			t.Errorf("%q as an element: %v", name, err)
		}
	}
}

func TestAttr(t *testing.T) {
	t.Parallel()
	r := xml.NewReader([]byte("<a xmlns='u' xmlns:p='v' b='1' p:b=\"2'&quot;\" c='\t&#9;\r\n&#xA;x  y' xml:space='preserve'><d/></a>"))
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		why, space, local, want string
		ok                      bool
	}{
		{"without a prefix in no namespace", "", "b", "1", true},
		{"with a prefix", "v", "b", `2'"`, true},
		{"the default namespace is not for attributes", "u", "b", "", false},
		{"raw white space is blanks, referenced is kept", "", "c", " \t \nx  y", true},
		{"of xml", xml.SpaceXML, "space", "preserve", true},
		{"declarations are no attributes", "", "xmlns", "", false},
		{"nor are those of prefixes", "http://www.w3.org/2000/xmlns/", "p", "", false},
		{"absent", "", "x", "", false},
	} {
		if got, ok := r.Attr(c.space, c.local); got != c.want || ok != c.ok {
			t.Errorf("%s: %q, %v", c.why, got, ok)
		}
	}
	for range 2 { // <d>, </d>
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		if v, ok := r.Attr("", "b"); ok {
			t.Errorf("an attribute of another element: %q", v)
		}
	}
}

func TestContent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, doc, want string
		err            error
	}{
		{"empty", `<a/>`, "", nil},
		{"two tags", `<a></a>`, "", nil},
		{"text", `<a> x<!-- --><![CDATA[<]]>&amp;</a>`, " x<&", nil},
		{"element", `<a><b/></a>`, "", xml.ErrNested},
		{"element behind text", `<a> <b/></a>`, "", xml.ErrNested},
	} {
		doc := []byte(c.doc)
		r := xml.NewReader(doc)
		if _, err := r.Content(); err == nil {
			t.Errorf("%s: content before the first tag", c.why)
		}
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		got, err := r.Content()
		clear(doc) // the string is a copy
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %q, %v", c.why, got, err)
		}
	}
	r := xml.NewReader([]byte(`<a>x`))
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	_, err := r.Content()
	_, again := r.Next()
	if err == nil || again != err {
		t.Errorf("an error does not stick: %v, then %v", err, again)
	}
}

func TestSkip(t *testing.T) {
	t.Parallel()
	r := xml.NewReader([]byte(`<a><b><b/><c>x</c></b><d/><e>y</e></a>`))
	var got []string
	for {
		kind, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if kind == xml.EOF {
			break
		}
		if kind == xml.Start && r.Local() != "a" {
			got = append(got, r.Local())
			if err := r.Skip(); err != nil {
				t.Fatal(err)
			}
			got = append(got, r.Local())
		}
	}
	if want := "b b d d e e"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if err := r.Skip(); err == nil {
		t.Error("skipping at the end of the document")
	}
	r = xml.NewReader([]byte(`<a><b></a>`))
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if err := r.Skip(); err == nil {
		t.Error("skipping accepts what Next does not")
	}
}

// What is just within the limits is taken, and memory is bounded beyond.
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
		"megabytes of names of namespaces on many elements": { // for seconds, were they compared on each
			"<r xmlns:a='" + strings.Repeat("u", 700<<10) + "1' xmlns:b='" + strings.Repeat("u", 700<<10) + "2'>" +
				strings.Repeat("<e a:x='' b:x=''/>", 140_000) + "</r>", true},
		"a long text with many references": {"<a>" + strings.Repeat("&lt;x", 100_000) + "</a>", true},
	} {
		if _, err := events(c.doc); (err == nil) != c.ok {
			t.Errorf("%s: %v", why, err)
		}
	}
}

// Texts and attributes that had to be decoded stay as they are when reading on.
func TestDecodedStays(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("<a>")
	const n = 1000
	for range n {
		b.WriteString("<b c='&lt;'>&gt;</b>")
	}
	b.WriteString("</a>")
	r := xml.NewReader([]byte(b.String()))
	var attributes []string
	var texts [][]byte
	for {
		kind, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if kind == xml.EOF {
			break
		}
		if kind == xml.Start && r.Local() == "b" {
			v, _ := r.Attr("", "c")
			attributes = append(attributes, v)
		}
		if kind == xml.Text {
			texts = append(texts, r.Text())
		}
	}
	if len(attributes) != n || len(texts) != n {
		t.Fatalf("%d attributes, %d texts", len(attributes), len(texts))
	}
	for i := range n {
		if attributes[i] != "<" || string(texts[i]) != ">" {
			t.Fatalf("number %d is %q, %q", i, attributes[i], texts[i])
		}
	}
}
