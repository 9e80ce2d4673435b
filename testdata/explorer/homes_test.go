package explorer

import (
	"crypto/rand"
	"encoding/base64"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// elsewhere lists Azurite and the deployments other than the binary. The programs of the deployments have the
// same command line as the binary.
var elsewhere = []struct {
	name, program, store string
	cost                 bool   // whether responses say how much a query scanned
	double               string // how the service returns the Double 5.0
}{
	{"lambda", "testdata/lambda/edgetable", "", true, "5.0"},
	{"objects", "testdata/edge/edgetable", "", true, "5.0"},
	{"kv", "testdata/edge/edgetable", "kv", true, "5.0"},
	{"postgres", "testdata/postgres/edgetable", "", true, "5.0"},
	{"azurite", "", "", false, "5"},
}

// home starts a deployment, or Azurite if program is empty, with a new account.
func home(t *testing.T, program, store string) *server {
	t.Helper()
	var b [64]byte
	_, _ = rand.Read(b[:]) // rand.Read never fails
	const account = "acme"
	key := base64.StdEncoding.EncodeToString(b[:])
	connection := func(endpoint string) *server {
		return &server{t: t, endpoint: endpoint, connection: "AccountName=" + account + ";AccountKey=" + key + ";TableEndpoint=" + endpoint}
	}
	if program == "" {
		// Azurite does not report the port that it chose, so choose one for it.
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := l.Addr().String()
		_ = l.Close() // an error is ignored, because the listener accepted nothing
		host, port, _ := net.SplitHostPort(address)
		c := exec.Command(os.Getenv("EDGETABLE_AZURITE"), "--tableHost", host, "--tablePort", port, "--inMemoryPersistence", "--silent", "--disableTelemetry")
		c.Env = append(os.Environ(), "AZURITE_ACCOUNTS="+account+":"+key)
		launch(t, "Azurite Table service successfully", c)
		return connection("http://" + address + "/" + account)
	}
	c := exec.Command(filepath.Join("..", "..", program), "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "data"))
	c.Env = append(os.Environ(), "EDGETABLE_ACCOUNTS="+account+":"+key, "EDGETABLE_FUNCTIONS=2", "EDGETABLE_EDGE_STORE="+store)
	_, lines, _ := launch(t, "ready", c)
	return connection(described(t, lines).endpoint)
}

// TestHomes checks that the page works the same with each deployment, and that the page says which features a
// deployment does not have.
func TestHomes(t *testing.T) {
	for _, h := range elsewhere {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			s := home(t, h.program, h.store)
			s.fill("many", numbered(60)...)
			b := newTab(t)
			b.open(exploreProfiles(t, map[string]string{"dev": s.connection}))
			b.seeText(at("tables"), "1 table")
			b.click(at("create-table"))
			b.fill(at("table-name"), "people")
			b.keys("\r")
			b.seeText(at("title"), "people")
			b.seeText(at("tables"), "2 tables")
			b.seeText(at("blank"), "The table is empty.")

			// An entity with several types.
			b.click(at("add"))
			b.set(field("PartitionKey", "field-value"), "Øslo 'x'")
			b.set(field("RowKey", "field-value"), "100%")
			for _, p := range [][3]string{
				{"Name", "String", "Åse"}, {"Empty", "String", ""}, {"Wide", "Int64", "9223372036854775807"}, {"Born", "Int32", "1815"},
				{"Whole", "Double", "5"}, {"Seen", "DateTime", "2026-03-04T05:06:07.1234567Z"}, {"Id", "Guid", "0f8fad5b-d9cb-469f-a165-70867728950e"}, {"Bytes", "Binary", "AAH/"},
			} {
				b.click(at("add-property"))
				b.set(field("", "field-name"), p[0])
				b.choose(field(p[0], "field-type"), p[1])
				b.set(field(p[0], "field-value"), p[2])
			}
			b.click(at("save-entity"))
			for _, want := range []string{`"Name": "Åse"`, `"Empty": ""`, `"Wide": "9223372036854775807"`, `"Born": 1815`, `"Whole": ` + h.double, `"2026-03-04T05:06:07.1234567Z"`, "0f8fad5b-d9cb-469f-a165-70867728950e", `"AAH/"`} {
				b.seeText(at("entity-json"), want)
			}

			// Run a query, and check the cost that the deployment reports.
			b.set(at("filter"), "startswith(PartitionKey, 'Øslo') and Born gt 1800 and Wide eq 9223372036854775807L")
			b.click(at("run"))
			b.rows(1)
			b.seeText(at("status"), "1 row, all that match")
			b.seeText(at("cost"), "1 page")
			if got := b.text(at("cost")); strings.Contains(got, "scanned") != h.cost || strings.Contains(got, "undefined") || strings.Contains(got, "NaN") {
				t.Errorf("the cost is %q", got)
			}
			b.shot("home-" + h.name)

			// Edit an entity, also after another client has changed this entity.
			other := func(born string) {
				s.run("", "put", "people", `{"PartitionKey":"Øslo 'x'","RowKey":"100%","Name":"other","Born":`+born+`}`, "--to", s.connection)
			}
			b.focus(at("grid"))
			b.keys("\r")
			b.click(at("edit"))
			b.set(field("Born", "field-value"), "1816")
			b.click(at("save-entity"))
			b.seeText(at("entity-json"), `"Born": 1816`)
			b.click(at("edit"))
			b.set(field("Born", "field-value"), "1817")
			other("1900")
			b.click(at("save-entity"))
			b.see(at("merge"))
			b.shot("home-" + h.name + "-merge")
			b.click(at("save-merged"))
			b.seeText(at("entity-json"), `"Born": 1817`)
			b.seeText(at("entity-json"), `"Name": "other"`)
			b.click(at("delete"))
			b.seeText(at("deleted"), "1 entity of people deleted.")
			b.click(at("undo"))
			b.gone(at("deleted"))
			if got := s.run("", "get", "people", "Øslo 'x'", "100%", "--from", s.connection); !strings.Contains(got, "1817") {
				t.Errorf("after undo: %s", got)
			}

			// Count, and then delete, all results of a query.
			b.visit("#/dev/many?filter=PartitionKey%20ne%20'a'")
			b.seeText(at("status"), "40 rows, all that match")
			b.click(at("bulk"))
			b.click(at("bulk-delete"))
			b.set(at("confirm"), "many")
			b.wait(`!document.querySelector(%s).disabled`, at("bulk-begin"))
			b.click(at("bulk-begin"))
			b.seeText(at("bulk-progress"), "40 entities deleted. Finished.")
			b.click(at("bulk-close"))
			b.seeText(at("blank"), "No entity matches the filter.")
			b.set(at("filter"), "")
			b.click(at("run"))
			b.seeText(at("status"), "20 rows")

			// The service accepts a token that the page makes.
			b.visit("#/dev/people")
			b.seeText(at("title"), "people")
			b.click(at("access-open"))
			b.seeText(at("sas-words"), "can read entities of the table people")
			b.click(at("sas-make"))
			b.see(at("sas-url"))
			token := js[string](b, `document.querySelector(%s).innerText`, at("sas-url"))
			for path, want := range map[string]int{"/people()?": 200, "/many()?": 403} {
				req, err := http.NewRequestWithContext(t.Context(), "GET", strings.Replace(token, "/people?", path, 1), nil)
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Accept", "application/json;odata=nometadata")
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
				if resp.StatusCode != want {
					t.Errorf("%s with a token for people: %d", path, resp.StatusCode)
				}
			}
			b.keys("\x1b")
			b.gone("dialog")

			// Only servers and Durable Objects count traffic. This deployment has counted for a few minutes.
			b.visit("#/dev/many?view=traffic&metric=scanned")
			switch h.name {
			case "postgres":
				b.seeText(at("findings"), "No problems were found.")
			case "objects":
				b.seeText(at("objects"), "Counted by the objects of a Worker since 20")
				b.see(at("heat"))
				b.seeText(at("shapes"), "(no filter but for keys)")
				b.seeText(at("findings"), "Advice")
			default:
				b.seeText(at("elsewhere"), "dev does not report its traffic.")
			}
			b.shot("home-" + h.name + "-traffic")

			// Declare an expiry rule if the deployment supports expiry rules.
			b.visit("#/dev/people?view=options")
			switch h.name {
			case "azurite":
				b.seeText(at("empty"), "This service does not support table options.")
			case "kv":
				b.seeText(at("cannot-expire"), "Workers KV does not support this option yet.")
			default:
				s.run("", "put", "people", `{"PartitionKey":"past","RowKey":"1","Seen@odata.type":"Edm.DateTime","Seen":"2026-03-04T05:06:07Z"}`, "--to", s.connection)
				b.fill(at("expire-property"), "Seen")
				b.click(at("options-save"))
				b.seeText(at("options-ask"), "The rule hides 1 of 2 entities")
				b.fill(at("options-confirm"), "people")
				b.click(at("options-agree"))
				b.seeText(at("options-said"), "Saved.")
				b.click(at("rows"))
				b.seeText(at("status"), "1 row,")
				b.click(at("rule"))
				b.click(at("withdraw-expire"))
				b.seeText(at("expire-state"), "not declared")
				b.click(at("rows"))
				b.seeText(at("status"), "2 rows,")
			}
			b.shot("home-" + h.name + "-options")
			b.quiet("412 (", "400 (")
		})
	}
}
