package explorer

import (
	"strings"
	"testing"
)

// way says how the page is opened: "gateway" is through 'edgetable explorer', "endpoint" is from the server
// itself.
type way string

// ways runs a test twice, once for each way to open the page.
func ways(t *testing.T, test func(b *tab, w way)) {
	for _, w := range []way{"gateway", "endpoint"} {
		t.Run(string(w), func(t *testing.T) {
			t.Parallel()
			test(newTab(t), w)
		})
	}
}

// enter opens the page in the account of the server, at a route such as people?filter=….
func (b *tab) enter(w way, s *server, route string) {
	b.Helper()
	if w == "gateway" {
		b.open(s.explore())
		b.seeText(at("account-open"), "dev") // wait until the session has begun
		js[bool](b, `(location.hash = "#/dev/" + %s, true)`, route)
		return
	}
	b.open(s.page)
	b.connect(s.connection)
	js[bool](b, `(location.hash = location.hash.replace(/\?.*/, "") + "/" + %s, true)`, route)
}

// connect enters a connection string in the page.
func (b *tab) connect(connection string) {
	b.Helper()
	b.click(at("way-string"))
	b.fill(at("secret"), connection)
	b.click(at("open"))
	b.see(at("tables"))
}

// quiet checks that the browser's console contains no errors, except errors that contain one of the given
// texts.
func (b *tab) quiet(but ...string) {
	b.Helper()
next:
	for _, problem := range b.complaints() {
		for _, known := range append(but, "404 (Not Found)") {
			if strings.Contains(problem, known) {
				continue next
			}
		}
		b.Errorf("the console has %s", problem)
	}
}
