package explorer

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// visits generates entities of the given partitions. The row numbers begin at the argument from, and end
// before the argument to.
func visits(partitions []int, from, to int) (list []entity) {
	for _, p := range partitions {
		for r := from; r < to; r++ {
			list = append(list, entity{"PartitionKey": fmt.Sprintf("city-%02d", p), "RowKey": fmt.Sprintf("%04d", r), "N": r})
		}
	}
	return list
}

// busy starts a server with traffic in the table visits: first in all 60 partitions, and then in one of them
// more than in all others. When a minute ends, the server adapts the ranges of the traffic map to the
// traffic, so busy waits for the end of a minute.
func busy(t *testing.T) (s *server, socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "s")
	s = serve(t, "--admin", socket)
	var all []int
	for p := range 60 {
		all = append(all, p*37%60)
	}
	s.use("visits", visits(all, 0, 20)...)
	for ; ; time.Sleep(500 * time.Millisecond) { // wait for the next minute of the clock, after which the statistics have a new column
		var r struct{ Map struct{ Starts []any } }
		said := s.run("", "traffic", "visits", "--admin", socket, "--json") // this request also makes the columns of the minutes that have ended
		if err := json.NewDecoder(strings.NewReader(said)).Decode(&r); err != nil {
			t.Fatal(err)
		}
		if len(r.Map.Starts) > 20 {
			break
		}
	}
	s.insert("visits", visits([]int{7}, 1000, 2500)...)
	s.insert("visits", visits([]int{31, 44}, 1000, 1040)...)
	return s, socket
}

// TestTraffic checks the map of a table's traffic. The map must show the busy keys, must open the rows of
// these keys, and must be accessible to screen readers.
func TestTraffic(t *testing.T) {
	t.Parallel()
	s, socket := busy(t)
	b := newTab(t)
	b.open(s.explore("--admin", socket))
	b.seeText(at("account-open"), "dev") // wait until the session has begun
	js[bool](b, `(location.hash = "#/dev/visits", true)`)
	b.click(at("traffic"))
	b.see(at("heat"))
	b.seeText(`[aria-pressed="true"]`, "Writes")
	b.seeText(at("findings"), "hot-partition")
	b.seeText(at("findings"), "city-07")
	b.seeText(at("partition"), "city-07")
	const colours = `(c => { const d = c.getContext("2d").getImageData(191, 7, c.width - 198, c.height - 50).data
		const seen = new Map(); for (let i = 0; i < d.length; i += 4) if (d[i + 3] == 255) { const k = d.slice(i, i + 3).join(); seen.set(k, (seen.get(k) ?? 0) + 1) }
		return [...seen.keys()] })(document.querySelector('[data-test="heat"]'))`
	b.wait(colours + `.length > 2`)
	b.shot("traffic")
	light := js[[]string](b, colours)
	b.click(at("theme"))
	b.click(at("theme"))
	b.wait(`document.documentElement.dataset.theme == "dark"`)
	b.wait(colours+`.join(" ") != %s.join(" ")`, light)
	b.shot("traffic-dark")
	for _, found := range b.axe() {
		t.Errorf("for screen readers: %s", found)
	}
	// A drag with the mouse zooms into a range of keys and a time, and the arrow keys do the same.
	x, y := b.place(0.5, 0.3)
	x2, y2 := b.place(0.99, 0.6)
	b.do(chromedp.MouseEvent(chromedp.MousePressed, x, y, chromedp.ButtonLeft, chromedp.ClickCount(1)),
		chromedp.MouseEvent(chromedp.MouseMoved, x2, y2, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseReleased, x2, y2, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	b.see(at("zoom-out"))
	b.shot("traffic-zoomed")
	b.press("Escape")
	b.wait(`!document.querySelector(%s)`, at("zoom-out"))
	b.do(chromedp.MouseEvent(chromedp.MouseMoved, 600, 20))
	b.press("ArrowLeft")
	b.press("End")
	b.seeText(at("heat-cell"), "keys before city-")
	last := js[string](b, `document.querySelector(%s).innerText`, at("heat-cell"))
	b.press("Home")
	b.wait(`document.querySelector(%s).innerText != %s`, at("heat-cell"), last)
	// A click opens the busiest partition, and the browser's back button returns to the map.
	b.click(at("ranges") + " summary")
	b.seeText(at("ranges"), "city-")
	b.click(at("partition"))
	b.seeText(at("status"), "1,000 rows loaded")
	b.wait(`decodeURIComponent(location.hash).includes("city-07")`)
	js[bool](b, `(history.back(), true)`)
	b.see(at("heat"))
	b.wait(colours + `.length > 2`)
	// A click on the map opens the rows of the range that was clicked.
	x, y = b.place(0.995, 0.5)
	b.do(chromedp.MouseClickXY(x, y))
	b.wait(`/PartitionKey.*city-/.test(decodeURIComponent(location.hash))`)
	b.seeText(`[role="gridcell"]`, "city-")
	b.quiet()
	t.Run("sizes and keys", func(t *testing.T) {
		js[bool](b, `(history.back(), true)`)
		b.see(at("heat")) // wait for the map first, because it moves the elements below it when it appears
		b.see(at("findings"))
		b.click(at("scan"))
		b.seeText(at("sizes"), "1,024 to 2,047")
		b.seeText(at("sizes"), "16 to 31")
		b.shot("traffic-sizes")
		b.click(at("access-open"))
		b.click(at("access-keys"))
		b.seeText(at("keys"), "Key 1 was last used on 20")
		b.shot("keys")
		b.quiet()
	})
}

// TestSelectedCell checks that the cell of the map that the user selected stays selected when the page reads the statistics again:
// the same keys at the same time, which may be at another place of the map.
func TestSelectedCell(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	starts := []entity{{}, {"PartitionKey": "a"}, {"PartitionKey": "b"}}
	at0 := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)
	var later atomic.Bool
	connection, _ := s.through(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("comp") != "traffic" || !strings.HasSuffix(r.URL.Path, "/people") {
			return false
		}
		list, b, until := starts, 2, 10
		if later.Load() { // two minutes later, there is another range
			list, b, until = []entity{{}, {"PartitionKey": "a"}, {"PartitionKey": "a", "RowKey": "5"}, {"PartitionKey": "b"}}, 3, 12
		}
		column := []entity{{"at": at0, "counts": [][]int{{1, 0, 3, 0, 0}}}, {"at": at0.Add(8 * time.Minute), "counts": [][]int{{b, 0, 77, 0, 0}}}}
		_ = json.NewEncoder(w).Encode(entity{
			"since": at0, "until": at0.Add(time.Duration(until)*time.Minute + 30*time.Second), "totals": entity{}, "shapes": []entity{},
			"heaviest": entity{"writes": entity{"total": 80}}, "map": entity{"starts": list, "minutes": column, "quarters": column},
		})
		return true
	})
	b := newTab(t)
	b.open(exploreProfiles(t, map[string]string{"dev": connection}))
	b.see(at("table"))
	b.visit("#/dev/people?view=traffic")
	b.seeText(".updated", "10:10Z")
	for _, key := range []string{"End", "ArrowLeft", "ArrowLeft", "ArrowDown", "ArrowDown"} {
		b.press(key)
	}
	b.seeText(at("heat-cell"), "keys from b to the last: 77 written")
	before := b.text(at("heat-cell"))
	later.Store(true)
	b.click(at("refresh"))
	b.seeText(".updated", "10:12Z")
	if after := b.text(at("heat-cell")); after != before {
		t.Errorf("before %q, after %q", before, after)
	}
	b.press("ArrowUp")
	b.seeText(at("heat-cell"), "keys from a / 5 to before b: 0 written")
	b.quiet()
}

// TestTrafficUntold checks the traffic page of a service that reports no traffic. The page must say that
// there is no report. It must also say what the user can do instead.
func TestTrafficUntold(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", people()...)
	connection, _ := s.through(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("comp") != "traffic" {
			return false
		}
		refuse(w, http.StatusNotImplemented, "NotImplemented", "not here")
		return true
	})
	b := newTab(t)
	b.enter("gateway", &server{t: t, connection: connection}, "people")
	b.click(at("traffic"))
	b.seeText(at("elsewhere"), "edgetable traffic people --data DIRECTORY")
	b.quiet()
}

// TestTrafficWithKey checks that the account key is sufficient to see the traffic. The server's
// administration socket must not be necessary, however the page was opened.
func TestTrafficWithKey(t *testing.T) {
	t.Parallel()
	ways(t, func(b *tab, w way) {
		s := serve(b.T)
		s.use("people", people()...)
		b.enter(w, s, "people")
		b.click(at("traffic"))
		b.see(at("heat"))
		b.seeText(at("partitions"), "Oslo")
		b.seeText(at("findings"), "too short to estimate the cost of a month")
		if w == "gateway" {
			b.click(at("scan"))
			b.seeText(at("sizes"), "2 to 3")
		}
		b.shot("traffic-" + string(w))
		b.click(at("access-open"))
		b.click(at("access-keys"))
		b.seeText(at("keys"), "edgetable account list")
		b.quiet()
	})
}

// place returns the window coordinates of a point in the picture of the table's traffic (the traffic map).
// The arguments x and y are fractions of the picture's size, from 0 to 1.
func (b *tab) place(x, y float64) (float64, float64) {
	b.Helper()
	p := js[[]float64](b, `(r => [r.left + 190 + (r.width - 196) * %s, r.top + 6 + (r.height - 46) * %s])((document.querySelector('[data-test="heat"]').scrollIntoView({block: "center"}), document.querySelector('[data-test="heat"]').getBoundingClientRect()))`, x, y)
	return p[0], p[1]
}

// press sends a key to the picture of the table's traffic (the traffic map).
func (b *tab) press(key string) {
	b.Helper()
	js[bool](b, `(e => { e.focus(); return e.dispatchEvent(new KeyboardEvent("keydown", {key: %s, bubbles: true, cancelable: true})) || true })(document.querySelector('[data-test="heat"]'))`, key)
}
