package xml_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"edgetable/core/xml"
)

// events writes the items of a document as one text. For a start tag it writes "<" and the name, for an end tag ">" and
// the name. It writes text in quotes. Before a name in a namespace, it writes the namespace in braces.
func events(doc string) (string, error) {
	var b strings.Builder
	r := xml.NewReader([]byte(doc))
	for {
		kind, err := r.Next()
		if err != nil {
			return b.String(), err
		}
		switch kind {
		case xml.EOF:
			return b.String(), nil
		case xml.Start:
			fmt.Fprintf(&b, "<%s", name(r))
		case xml.End:
			fmt.Fprintf(&b, ">%s", name(r))
		case xml.Text:
			fmt.Fprintf(&b, "%q", r.Text())
		}
	}
}

func name(r *xml.Reader) string {
	if r.Space() == "" {
		return r.Local()
	}
	return "{" + r.Space() + "}" + r.Local()
}

func TestReader(t *testing.T) {
	t.Parallel()
	const edges = "\u0085\u007f\ud7ff\ue000\ufffd\U00010000\U0010ffff"
	for _, c := range []struct{ why, doc, want string }{
		{"an empty element has an end too", `<a/>`, `<a>a`},
		{"written as two tags", `<a></a>`, `<a>a`},
		{"blanks in tags", "<a\n\t></a \r\n>", `<a>a`},
		{"text", `<a>x</a>`, `<a"x">a`},
		{"white space is text", "<a> <b/>\n</a>", `<a" "<b>b"\n">a`},
		{"declaration", `<?xml version="1.0" encoding="utf-8" standalone="yes"?><a/>`, `<a>a`},
		{"declaration in single quotes, upper case, with blanks", "<?xml  version = '1.0'  encoding='UTF-8' ?>\r\n<a/>\n", `<a>a`},
		{"byte order mark", "\uFEFF<?xml version=\"1.0\"?><a/>", `<a>a`},
		{"byte order mark without declaration", "\uFEFF<a/>", `<a>a`},
		{"comments and instructions outside", "<!-- x --><?p?> <?p x?><a/><!----><?xml-style y?>\n", `<a>a`},
		{"comments and instructions do not part text", "<a>x<!-- < & -->y<?p <?>z</a>", `<a"xyz">a`},
		{"the five entities", `<a>&lt;&gt;&amp;&quot;&apos;</a>`, `<a"<>&\"'">a`},
		{"references by number", `<a>&#65;&#x42;&#x1F600;&#13;&#00009;</a>`, `<a"AB😀\r\t">a`},
		{"a reference is not resolved twice", `<a>&amp;lt;</a>`, `<a"&lt;">a`},
		{"CDATA", `<a><![CDATA[<b>&amp;]]]]></a>`, `<a"<b>&amp;]]">a`},
		{"CDATA is part of the text", `<a>x<![CDATA[y]]>z<![CDATA[]]></a>`, `<a"xyz">a`},
		{"nothing but an empty CDATA is no text", `<a><![CDATA[]]></a>`, `<a>a`},
		{"line ends", "<a>1\r\n2\r3\n4\r\r\n</a>", `<a"1\n2\n3\n4\n\n">a`},
		{"line ends in CDATA", "<a><![CDATA[\r\n\r]]></a>", `<a"\n\n">a`},
		{"default namespace", `<a xmlns="u"><b xmlns=""/><c xmlns="v"/><d/></a>`, `<{u}a<b>b<{v}c>{v}c<{u}d>{u}d>{u}a`},
		{"prefixes", `<p:a xmlns:p="u"><p:b xmlns:p="v"></p:b><p:c/></p:a>`, `<{u}a<{v}b>{v}b<{u}c>{u}c>{u}a`},
		{"a prefix is declared behind its use in the tag", `<p:a p:x="" xmlns:p="u"/>`, `<{u}a>{u}a`},
		{"xml is declared", `<a xml:space="preserve"> </a>`, `<a" ">a`},
		{"xml may be declared as what it is", `<a xmlns:xml="http://www.w3.org/XML/1998/namespace"/>`, `<a>a`},
		{"a namespace with a reference", `<a xmlns="u&amp;v"/>`, `<{u&v}a>{u&v}a`},
		{"names of any script", `<Имя.1-x><名前/><_ç·/></Имя.1-x>`, `<Имя.1-x<名前>名前<_ç·>_ç·>Имя.1-x`},
		{"names have a case", `<a><A></A></a>`, `<a<A>A>a`},
		{"a > in text", `<a>></a>`, `<a">">a`},
		{"32 deep", strings.Repeat("<a>", 32) + strings.Repeat("</a>", 32), strings.Repeat("<a", 32) + strings.Repeat(">a", 32)},
		{"characters at the edges of legal", "<a>" + edges + "</a>", fmt.Sprintf("<a%q>a", edges)},
	} {
		got, err := events(c.doc)
		if err != nil {
			t.Errorf("%s: %s: %v", c.why, c.doc, err)
		} else if got != c.want {
			t.Errorf("%s: %s:\n got %s\nwant %s", c.why, c.doc, got, c.want)
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
	for range 2 { // the tags <d> and </d>, which have no attributes
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
			t.Errorf("%s: Content succeeded before the first tag", c.why)
		}
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		got, err := r.Content()
		clear(doc) // overwrites the document; the text in got must not change, because Content returns a copy
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
		t.Errorf("Next returned %v, then another error: %v", err, again)
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
		t.Error("Skip succeeded at the end of the document")
	}
	r = xml.NewReader([]byte(`<a><b></a>`))
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if err := r.Skip(); err == nil {
		t.Error("Skip accepts a document that Next refuses")
	}
}

// TestDecodedStays checks that decoded texts and attributes do not change as the reader advances.
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
