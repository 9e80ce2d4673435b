package xml_test

import (
	"testing"

	"edgetable/core/xml"
)

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
