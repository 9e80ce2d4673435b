package explorer

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hostileTraffic starts a server on this machine. The server reports traffic of a table with the name "rows".
// Every text in the report contains an attack, such as a script. hostileTraffic returns the path of the
// server's socket.
func hostileTraffic(t *testing.T, connection string) (socket string) {
	t.Helper()
	list := attacks()
	now := time.Now().UTC().Truncate(time.Minute)
	heavy := entity{"total": 10_000}
	var partitions, starts, shapes []entity
	var counts [][]int
	for i, attack := range list {
		partitions = append(partitions, entity{"partition": attack, "count": 9000 - i, "error": i})
		starts = append(starts, entity{"PartitionKey": attack, "RowKey": attack})
		shapes = append(shapes, entity{"plan": attack, "filter": attack, "example": attack, "pages": 100, "scanned": 100_000, "returned": 1})
		counts = append(counts, []int{i, 10, 1000, 10, 10})
	}
	heavy["partitions"] = partitions
	column := []entity{{"at": now, "counts": counts}}
	report := entity{
		"account": "acme", "table": list[0], "since": now.Add(-time.Hour), "until": now,
		"totals":   entity{"reads": 10_000, "writes": 10_000, "writeUnits": 10_000, "writeRequests": 10_000, "queries": 10_000, "scanned": 1_000_000, "returned": 100},
		"heaviest": entity{"reads": heavy, "writes": heavy, "scanned": heavy, "throttled": heavy},
		"shapes":   shapes, "map": entity{"starts": starts, "minutes": column, "quarters": column},
	}
	home, _, _ := strings.Cut(connection[strings.Index(connection, "http://"):], "/acme")
	u, err := url.Parse(home)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	answer := func(value any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(value) }
	}
	mux.HandleFunc("GET /server", answer(entity{"url": home, "listens": u.Host, "file": list[0], "accounts": []entity{{"name": "acme", "file": list[1], "keys": []entity{{"key": 1}}}}}))
	mux.HandleFunc("GET /traffic/rows", answer(report))
	mux.HandleFunc("GET /traffic/refused", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, strings.Join(list, " "), http.StatusNotFound)
	})
	socket = filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(mux)
	s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return socket
}

// TestAttacksInTraffic checks that attacks in the statistics remain plain text wherever the traffic page shows them:
// the labels and cells of the heat map, ranges, partitions, filters, findings and errors.
func TestAttacksInTraffic(t *testing.T) {
	t.Parallel()
	connection := hostile(t)
	link := exploreProfiles(t, map[string]string{"dev": connection}, "--admin", hostileTraffic(t, connection))
	b := newTab(t)
	b.open(link)
	b.see(at("table"))
	b.visit("#/dev/rows?view=traffic&metric=writes&span=quarters")
	b.see(at("heat"))
	b.wait(`document.querySelector(%s).getAttribute("aria-pressed") == "true"`, at("span-quarters"))
	b.wait(`document.querySelector(%s).getAttribute("aria-pressed") == "true"`, at("metric-writes"))
	list := attacks()
	for i, part := range []string{"partitions", "shapes"} {
		for _, attack := range list[:10] {
			b.seeText(at(part), attack)
		}
		b.wait(`document.querySelectorAll(%s).length == 10`, at([]string{"partition", "shape"}[i]))
	}
	b.seeText(at("findings"), "hot-partition")
	b.seeText(at("findings"), "scan-ratio")
	b.seeText(at("findings"), list[0])
	js[bool](b, `(document.querySelectorAll("details").forEach(e => e.open = true), true)`)
	for _, attack := range list {
		b.seeText(at("ranges"), attack+" / "+attack)
	}
	// Select all cells one after the other; each shows its keys.
	if !js[bool](b, `(async () => {
		const heat = document.querySelector(%s)
		heat.focus()
		for (let i = 0; i <= %s; i++) {
			heat.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowDown", bubbles: true, cancelable: true}))
			await new Promise(r => setTimeout(r)) // the page draws what the key has changed
		}
		return document.querySelector(%s).innerText.includes(%s)
	})()`, at("heat"), len(list), at("heat-cell"), list[len(list)-1]) {
		t.Errorf("the last cell says %q", b.text(at("heat-cell")))
	}
	b.harmless(link)
	b.shot("attacks-traffic")
	for _, opens := range []string{"partition", "shape"} {
		b.click(at(opens))
		b.wait(`document.querySelector(%s)?.value.includes("<script>window.ran=1</script>")`, at("filter"))
		b.seeText(`[role="gridcell"]`, "<script>")
		b.harmless(link)
		js[bool](b, `(history.back(), true)`)
		b.see(at(opens))
	}
	b.click(at("access-open"))
	b.click(at("access-keys"))
	b.seeText(at("keys"), list[1])
	b.harmless(link)
	b.keys("\x1b")
	b.visit("#/dev/refused?view=traffic")
	b.seeText(at("error"), "<img src=x onerror=window.ran=1>")
	b.harmless(link)
}
