package xml_test

import (
	"bytes"
	stdxml "encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"edgetable/core/xml"
)

// FuzzReader compares the reader with encoding/xml. If both accept a document, they must read the same. If only
// encoding/xml refuses a document, the cause must be its older table of characters in names.
func FuzzReader(f *testing.F) {
	f.Add([]byte(`<?xml version="1.0" encoding="utf-8" standalone="yes"?><entry xmlns:m="m" xmlns="u" m:etag="W/&quot;x&quot;"><d m:null='true' /><e> &#xD;<![CDATA[<]]> </e></entry>`))
	f.Add([]byte("\uFEFF<a>\r\n<b/><!-- x --></a>\n"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		given := bytes.Clone(doc)
		r := xml.NewReader(doc)
		var got []string
		depth, tag := 0, false
		for {
			kind, err := r.Next()
			if err != nil {
				var at *xml.SyntaxError
				if !errors.As(err, &at) || at.Offset < 0 || at.Offset > len(doc) {
					t.Fatalf("not a SyntaxError with an offset in the document: %v", err)
				}
				return
			}
			if kind == xml.EOF {
				break
			}
			switch kind {
			case xml.Start:
				depth++
				if depth > xml.MaxDepth {
					t.Fatal("Next accepted an element that is nested too deep")
				}
				got = append(got, "<"+name(r))
			case xml.End:
				depth--
				got = append(got, ">"+name(r))
			case xml.Text:
				if len(r.Text()) == 0 || !tag {
					t.Fatal("Next returned an empty text, or two texts in a row")
				}
				if !xml.Representable(string(r.Text())) {
					t.Fatalf("%q is not legal", r.Text())
				}
				got = append(got, string(r.Text()))
			}
			tag = kind != xml.Text
		}
		if depth != 0 || !utf8.Valid(doc) || !bytes.Equal(doc, given) {
			t.Fatal("Next accepted an incomplete document, or changed it")
		}
		want, err := standard(doc)
		if err != nil {
			if strings.Contains(err.Error(), "invalid XML name") || strings.Contains(err.Error(), "expected element name") ||
				strings.Contains(err.Error(), "expected attribute name") || strings.Contains(err.Error(), "expected target name") {
				return
			}
			t.Fatalf("encoding/xml refuses %q: %v", doc, err)
		}
		// encoding/xml does not replace other white space in attribute values by spaces
		if blanks(strings.Join(got, "\n")) != blanks(strings.Join(want, "\n")) {
			t.Fatalf("%q:\n got %q\nwant %q", doc, got, want)
		}
	})
}

// blanks returns s with a space in place of each tab, carriage return and line feed.
func blanks(s string) string { return strings.NewReplacer("\t", " ", "\r", " ", "\n", " ").Replace(s) }

// standard returns the events of a document as encoding/xml reads them, with adjacent texts joined.
func standard(doc []byte) (list []string, err error) {
	doc, _ = bytes.CutPrefix(doc, []byte("\uFEFF"))
	d := stdxml.NewDecoder(bytes.NewReader(doc))
	var text []byte
	flush := func() {
		if len(text) > 0 {
			list = append(list, string(text))
			text = nil
		}
	}
	tag := func(kind string, n stdxml.Name) {
		flush()
		if n.Space != "" {
			kind += "{" + n.Space + "}"
		}
		list = append(list, kind+n.Local)
	}
	for depth := 0; ; {
		token, err := d.Token()
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		switch x := token.(type) {
		case stdxml.StartElement:
			tag("<", x.Name)
			depth++
		case stdxml.EndElement:
			tag(">", x.Name)
			depth--
		case stdxml.CharData:
			if depth > 0 {
				text = append(text, x...)
			}
		}
	}
}

// FuzzAppend writes a text and reads it again. The text must be the same, except for characters that Representable
// refuses. encoding/xml must read the same text.
func FuzzAppend(f *testing.F) {
	f.Add("x", "y")
	f.Add(" \t\r\n", "<&>\"']]>")
	f.Add("\x00\uFFFE", "äя€😀\xff")
	f.Fuzz(func(t *testing.T, text, attr string) {
		doc := append(xml.AppendAttr([]byte(xml.Header+`<a b="`), attr), `" c='`...)
		doc = append(xml.AppendText(append(xml.AppendAttr(doc, attr), `'>`...), text), `</a>`...)
		r := xml.NewReader(doc)
		if _, err := r.Next(); err != nil {
			t.Fatalf("%q: %v", doc, err)
		}
		b, _ := r.Attr("", "b")
		c, _ := r.Attr("", "c")
		got, err := r.Content()
		if err != nil {
			t.Fatalf("%q: %v", doc, err)
		}
		if b != c || (b == attr) != xml.Representable(attr) || (got == text) != xml.Representable(text) {
			t.Fatalf("%q: read %q and %q, want %q and %q", doc, b, got, attr, text)
		}
		var x struct {
			B    string `xml:"b,attr"`
			Text string `xml:",chardata"`
		}
		if err := stdxml.Unmarshal(doc, &x); err != nil || x.B != b || x.Text != got {
			t.Fatalf("%q: encoding/xml reads %+v, %v", doc, x, err)
		}
	})
}
