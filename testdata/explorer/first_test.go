package explorer

import (
	"strings"
	"testing"
)

// TestFirstMinute checks the first use of the page. The URL of the server redirects to the page,
// and one click opens the development account. A reloaded window keeps its account until the user
// disconnects.
func TestFirstMinute(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.do("POST", "/Tables", `{"TableName":"people"}`, 201)
	b := newTab(t)
	b.open(strings.TrimSuffix(s.page, "_/"))
	b.see(at("open-development"))
	if at := js[string](b, `location.pathname`); at != "/_/" {
		t.Errorf("the page is at %s", at)
	}
	b.shot("first-minute")
	b.click(at("open-development"))
	b.seeText(at("tables"), "people")
	reload := func() {
		js[bool](b, `(window.old = true, location.reload(), true)`)
		b.wait(`!window.old && document.readyState == "complete"`)
	}
	reload()
	b.seeText(at("tables"), "people")
	b.click(at("disconnect"))
	b.see(at("open-development"))
	reload()
	b.see(at("open-development"))
	b.quiet()

	// Another account stays open in its window after a reload, and is not open in other windows.
	b.connect(s.connection)
	reload()
	b.see(at("tables"))
	other := newTab(t)
	other.open(s.page)
	other.see(at("connect"))
}
