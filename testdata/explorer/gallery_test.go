package explorer

import (
	"bytes"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestGallery checks the page that shows all components of the explorer. Each component must draw something,
// the light and the dark theme must differ, and screen readers must be able to use all components.
func TestGallery(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := exec.Command("go", "run", "-C", "../../functions/explorer/build", ".", "-gallery", "-out", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	b := newTab(t)
	b.open(server.URL)
	b.see(at("gallery-type"))
	b.click(`button[data-test="gallery-menu"]`)
	b.do(chromedp.EmulateViewport(1280, 4200)) // a large window, because a screenshot contains only the visible part
	sections := js[[]string](b, `[...document.querySelectorAll("section[data-test^=gallery-]")].map(e => e.dataset.test)`)
	if len(sections) < 15 {
		t.Errorf("there are %q", sections)
	}
	seen := map[string]map[string][]byte{}
	for _, theme := range []string{"light", "dark"} {
		b.theme(theme)
		for _, found := range b.axe() {
			t.Errorf("%s: %s", theme, found)
		}
		seen[theme] = map[string][]byte{}
		for _, name := range sections {
			seen[theme][name] = b.picture(`section[data-test="` + name + `"]`)
			if n := colours(t, seen[theme][name]); n < 8 {
				t.Errorf("%s in %s has %d colours", name, theme, n)
			}
		}
		b.shot("gallery-" + theme)
	}
	for _, name := range sections {
		if bytes.Equal(seen["light"][name], seen["dark"][name]) {
			t.Errorf("%s is the same in light and in dark", name)
		}
	}
	b.click(`button[data-test="gallery-dialog"]`)
	b.see("dialog")
	for _, found := range b.axe() {
		t.Errorf("the dialog: %s", found)
	}
	b.quiet()
}

// picture returns a screenshot of an element.
func (b *tab) picture(selector string) []byte {
	b.Helper()
	b.see(selector)
	picture, err := chromedp.Run(b.ctx, chromedp.Screenshot(chromedp.CSS(selector)))
	if err != nil {
		b.Fatal(err)
	}
	return picture
}

// colours returns the number of colors in a picture.
func colours(t *testing.T, picture []byte) int {
	t.Helper()
	p, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[[3]uint32]bool{}
	for y := p.Bounds().Min.Y; y < p.Bounds().Max.Y; y++ {
		for x := p.Bounds().Min.X; x < p.Bounds().Max.X; x++ {
			r, g, bl, _ := p.At(x, y).RGBA()
			seen[[3]uint32{r, g, bl}] = true
		}
	}
	return len(seen)
}
