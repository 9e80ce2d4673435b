package xml_test

import (
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
		// Put each string at every offset in a word of eight bytes. The code under test checks eight bytes at a time.
		for pad := range 9 {
			before, after := strings.Repeat("x", pad), strings.Repeat("y", 8-pad)
			if got, want := string(xml.AppendText(nil, before+c.in+after)), before+c.text+after; got != want {
				t.Errorf("%s after %d bytes as text: got %q, want %q", c.why, pad, got, want)
			}
			if got, want := string(xml.AppendAttr(nil, before+c.in+after)), before+c.attr+after; got != want {
				t.Errorf("%s after %d bytes as an attribute: got %q, want %q", c.why, pad, got, want)
			}
			lost := strings.Contains(c.text, "\uFFFD")
			if _, whole := xml.AppendWhole(nil, before+c.in+after); whole == lost {
				t.Errorf("%s after %d bytes: whole is %v", c.why, pad, whole)
			}
			if xml.Representable(before+c.in+after) == lost {
				t.Errorf("%s after %d bytes: Representable is %v", c.why, pad, lost)
			}
		}
	}
	if !xml.Representable("\uFFFD") {
		t.Error("Representable refuses U+FFFD, which is a character of XML")
	}
}
