package explorer_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"edgetable/adapters/client/remote"
	"edgetable/functions/explorer"
	"edgetable/testdata/must"
)

const key = "c2VjcmV0IG9mIHRoZSBhY2NvdW50LCAzMiBieXRlcyE="

// desk is a gateway (the server of 'edgetable explorer') that forwards requests to a fake service. The field session
// contains the token of a session with the gateway.
type desk struct {
	*httptest.Server
	gateway *explorer.Gateway
	got     chan *http.Request // the requests that the service received
	session string
}

// open starts a gateway and a fake service. The gateway forwards requests to the fake service. The second argument is
// the handler of the fake service.
func open(t *testing.T, service http.HandlerFunc) *desk {
	d := &desk{got: make(chan *http.Request, 10)}
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.got <- r
		service(w, r)
	}))
	t.Cleanup(behind.Close)
	profile := func(name string, readOnly bool, connection string) explorer.Profile {
		return explorer.Profile{Name: name, ReadOnly: readOnly, Account: "acme", Connect: func() (remote.Endpoint, error) { return remote.ParseConnection(connection) }}
	}
	byKey := "AccountName=acme;TableEndpoint=" + behind.URL + "/acme;AccountKey=" + key
	d.gateway = &explorer.Gateway{Version: "1", Plain: error.Error, Opened: func() {}, Profiles: func() ([]explorer.Profile, error) {
		return []explorer.Profile{profile("dev", false, byKey), profile("prod", true, byKey),
			profile("token", false, behind.URL+"/acme?sv=2019-02-02&sig=SECRET%3D"), profile("dead", false, "AccountName=acme;TableEndpoint=http://127.0.0.1:1/acme;AccountKey="+key)}, nil
	}}
	d.Server = httptest.NewServer(d.gateway.Handler())
	t.Cleanup(d.Server.Close)
	_, token, _ := strings.Cut(d.gateway.Invite(), "#token=")
	answer := d.do(t, d.request(t, "GET", "/_/session", "", "X-Edgetable-Explorer", token))
	var begun struct{ Token string }
	if err := json.Unmarshal([]byte(answer.body), &begun); err != nil || begun.Token == "" {
		t.Fatalf("no session: %d %s %v", answer.StatusCode, answer.body, err)
	}
	d.session = begun.Token
	return d
}

// request returns a request with the token of the session. header may replace the token.
func (d *desk) request(t *testing.T, method, path, body string, header ...string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, d.URL+path, strings.NewReader(body))
	must.OK(t, err)
	r.Header.Set("X-Edgetable-Explorer", d.session)
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

type reply struct {
	*http.Response
	body string
}

func (d *desk) do(t *testing.T, r *http.Request) reply {
	t.Helper()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	must.OK(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must.OK(t, err)
	for name, values := range resp.Header {
		if all := name + strings.Join(values, " "); strings.Contains(all, key) || strings.Contains(all, "SECRET") {
			t.Errorf("a secret is in the header %s", all)
		}
	}
	if strings.Contains(string(text), key) || strings.Contains(string(text), "SECRET") {
		t.Errorf("a secret is in %s", text)
	}
	return reply{resp, string(text)}
}

func ok(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Set-Cookie", "a=b")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("X-Ms-Continuation-NextPartitionKey", "next")
	_, _ = io.WriteString(w, `{"value":[]}`)
}

// TestForward checks that a request of the page reaches the service, signed, and with only the headers of the
// protocol. The response must reach the page with only the headers of the protocol, too.
func TestForward(t *testing.T) {
	t.Parallel()
	d := open(t, ok)
	resp := d.do(t, d.request(t, "GET", "/_/p/dev/People(PartitionKey='a%2Fb',RowKey='..')?$select=A", "",
		"Accept", "application/json", "Cookie", "c=d", "X-Ms-Client-Request-Id", "7", "Origin", d.URL, "Authorization", "Bearer x"))
	if resp.StatusCode != 200 || resp.body != `{"value":[]}` || resp.Header.Get("X-Ms-Continuation-NextPartitionKey") != "next" {
		t.Fatalf("%d %v %s", resp.StatusCode, resp.Header, resp.body)
	}
	for _, name := range []string{"Set-Cookie", "Access-Control-Allow-Origin"} {
		if resp.Header.Get(name) != "" {
			t.Errorf("the answer has %s", name)
		}
	}
	r := <-d.got
	if r.RequestURI != "/acme/People(PartitionKey='a%2Fb',RowKey='..')?$select=A" || r.Header.Get("X-Ms-Client-Request-Id") != "7" || r.Header.Get("Accept") != "application/json" {
		t.Errorf("%s %v", r.RequestURI, r.Header)
	}
	if !strings.HasPrefix(r.Header.Get("Authorization"), "SharedKeyLite acme:") || r.Header.Get("X-Ms-Date") == "" || r.Header.Get("X-Ms-Version") == "" {
		t.Errorf("it is not signed: %v", r.Header)
	}
	for _, name := range []string{"Cookie", "Origin", "X-Edgetable-Explorer"} {
		if r.Header.Get(name) != "" {
			t.Errorf("the service got %s", name)
		}
	}
	d.do(t, d.request(t, "MERGE", "/_/p/token/People(PartitionKey='a',RowKey='b')?timeout=5", "{}", "If-Match", "*"))
	if r := <-d.got; r.Method != "MERGE" || r.URL.RawQuery != "timeout=5&sv=2019-02-02&sig=SECRET%3D" || r.Header.Get("If-Match") != "*" || r.Header.Get("Authorization") != "" {
		t.Errorf("%s %s %v", r.Method, r.RequestURI, r.Header)
	}
}

// TestAttacks checks that requests of attackers are refused, and never reach the service.
func TestAttacks(t *testing.T) {
	t.Parallel()
	d := open(t, ok)
	for _, tt := range []struct {
		why, method, path string
		header            []string
		want              int
		code              string
	}{
		{"a name that points to this machine", "GET", "/_/p/dev/Tables", []string{"Host", "evil.example:80"}, 421, "WrongHost"},
		{"a name that begins as an address", "GET", "/_/", []string{"Host", "127.0.0.1.evil.example"}, 421, "WrongHost"},
		{"another machine's address", "GET", "/_/", []string{"Host", "192.168.0.9"}, 421, "WrongHost"},
		{"half an address", "GET", "/_/", []string{"Host", "[::1"}, 421, "WrongHost"},
		{"an address with a zone", "GET", "/_/", []string{"Host", "::1%eth0"}, 421, "WrongHost"},
		{"no token", "GET", "/_/p/dev/Tables", []string{"X-Edgetable-Explorer", ""}, 401, "NoSession"},
		{"a wrong token", "GET", "/_/session", []string{"X-Edgetable-Explorer", "guess"}, 401, "NoSession"},
		{"an empty one-time token", "GET", "/_/session", []string{"X-Edgetable-Explorer", ""}, 401, "NoSession"},
		{"a page of another origin writes", "POST", "/_/p/dev/Tables", []string{"Origin", "https://evil.example"}, 403, "CrossOrigin"},
		{"a page of another site writes", "DELETE", "/_/p/dev/Tables('a')", []string{"Sec-Fetch-Site", "cross-site"}, 403, "CrossOrigin"},
		{"a page of another port writes", "PUT", "/_/p/dev/x", []string{"Sec-Fetch-Site", "same-site"}, 403, "CrossOrigin"},
		{"a page of another origin reads", "GET", "/_/p/dev/Tables", []string{"Origin", "https://evil.example"}, 403, "CrossOrigin"},
		{"a page of another site reads", "GET", "/_/p/dev/Tables", []string{"Sec-Fetch-Site", "cross-site"}, 403, "CrossOrigin"},
		{"a page of another port begins a session", "GET", "/_/session", []string{"Sec-Fetch-Site", "same-site"}, 403, "CrossOrigin"},
		{"a page of another origin includes a script", "GET", "/_/app.js", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, 403, "CrossOrigin"},
		{"a form of another page", "POST", "/_/p/dev/Tables", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 403, "CrossOrigin"},
		{"a path out of the account", "GET", "/_/p/dev/../other/Tables", nil, 400, "InvalidUri"},
		{"an escaped path out of the account", "GET", "/_/p/dev/%2e%2e/other/Tables", nil, 400, "InvalidUri"},
		{"a path with an escaped slash out of the account", "GET", "/_/p/dev/%2e%2e%2fother/Tables", nil, 400, "InvalidUri"},
		{"a signature of the page's own", "GET", "/_/p/token/Tables?sig=x", nil, 400, "InvalidQueryParameterValue"},
		{"the same in capitals, escaped", "GET", "/_/p/token/Tables?%53IG=x", nil, 400, "InvalidQueryParameterValue"},
		{"a method that the protocol has not", "CONNECTED", "/_/p/dev/Tables", nil, 405, "UnsupportedHttpVerb"},
		{"a service that is not among the profiles", "GET", "/_/p/http:%2F%2Fevil.example/Tables", nil, 404, "NoProfile"},
		{"a write to a read-only profile", "PUT", "/_/p/prod/People(PartitionKey='a',RowKey='b')", nil, 403, "ReadOnlyProfile"},
		{"an insert", "POST", "/_/p/prod/People", nil, 403, "ReadOnlyProfile"},
		{"a batch", "POST", "/_/p/prod/$batch", nil, 403, "ReadOnlyProfile"},
		{"a merge", "MERGE", "/_/p/prod/People(PartitionKey='a',RowKey='b')", nil, 403, "ReadOnlyProfile"},
		{"a patch", "PATCH", "/_/p/prod/People(PartitionKey='a',RowKey='b')", nil, 403, "ReadOnlyProfile"},
		{"a delete", "DELETE", "/_/p/prod/Tables('People')", nil, 403, "ReadOnlyProfile"},
		{"a method inside another", "POST", "/_/p/prod/People(PartitionKey='a',RowKey='b')", []string{"X-Http-Method", "GET"}, 403, "ReadOnlyProfile"},
		{"traffic without a token", "GET", "/_/traffic/dev", []string{"X-Edgetable-Explorer", ""}, 401, "NoSession"},
		{"advice without a token", "GET", "/_/advise/dev/People?scan=true", []string{"X-Edgetable-Explorer", ""}, 401, "NoSession"},
		{"keys without a token", "GET", "/_/accounts/dev", []string{"X-Edgetable-Explorer", ""}, 401, "NoSession"},
		{"keys under a name that points to this machine", "GET", "/_/accounts/dev", []string{"Host", "evil.example"}, 421, "WrongHost"},
		{"traffic of all tables of a service elsewhere", "GET", "/_/traffic/dev?scan=true", nil, 404, "NotLocal"},
		{"keys of a service elsewhere", "GET", "/_/accounts/dev", nil, 404, "NotLocal"},
		{"keys of a profile that is not there", "GET", "/_/accounts/none", nil, 404, "NoProfile"},
		{"a token of a read-only profile", "POST", "/_/sign/prod", nil, 403, "ReadOnlyProfile"},
		{"a token of a profile without a key", "POST", "/_/sign/token", nil, 409, "NoKey"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			resp := d.do(t, d.request(t, tt.method, tt.path, "", tt.header...))
			if resp.StatusCode != tt.want || resp.Header.Get("X-Ms-Error-Code") != tt.code {
				t.Errorf("%d %s %s", resp.StatusCode, resp.Header.Get("X-Ms-Error-Code"), resp.body)
			}
			select {
			case r := <-d.got:
				t.Errorf("the service got %s %s", r.Method, r.RequestURI)
			default:
			}
		})
	}
	// A link in another page opens the page, and what the page itself loads has its origin.
	for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, {"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors"}, {"Origin", d.URL}} {
		if resp := d.do(t, d.request(t, "GET", "/_/", "", header...)); resp.StatusCode != 200 {
			t.Errorf("%v: %d %s", header, resp.StatusCode, resp.body)
		}
	}
	// The header X-HTTP-Method is not forwarded, so this request stays a read.
	d.do(t, d.request(t, "GET", "/_/p/prod/Tables", "", "X-Http-Method", "DELETE"))
	if r := <-d.got; r.Header.Get("X-Http-Method") != "" || r.Method != "GET" {
		t.Errorf("%s %v", r.Method, r.Header)
	}
}

// TestOneTime checks that a one-time token opens only one session.
func TestOneTime(t *testing.T) {
	t.Parallel()
	d := open(t, ok)
	_, token, _ := strings.Cut(d.gateway.Invite(), "#token=")
	for i, want := range []int{200, 401} {
		if resp := d.do(t, d.request(t, "GET", "/_/session", "", "X-Edgetable-Explorer", token)); resp.StatusCode != want {
			t.Errorf("use %d: %d %s", i+1, resp.StatusCode, resp.body)
		}
	}
	if resp := d.do(t, d.request(t, "GET", "/_/p/dev/Tables", "", "X-Edgetable-Explorer", token)); resp.StatusCode != 401 {
		t.Errorf("a one-time token reads tables: %d", resp.StatusCode)
	}
	if resp := d.do(t, d.request(t, "GET", "/_/session", "")); resp.StatusCode != 200 || !strings.Contains(resp.body, `{"name":"prod","readOnly":true,"color":"","account":"acme"`) {
		t.Errorf("%d %s", resp.StatusCode, resp.body)
	}
}

// TestBadServices checks that the page gets an error that it can show, for each fault of a service.
func TestBadServices(t *testing.T) {
	t.Parallel()
	d := open(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/acme/away":
			http.Redirect(w, r, "https://evil.example/", http.StatusFound)
		case "/acme/cut":
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "{")
		case "/acme/busy":
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(503)
		}
	})
	if resp := d.do(t, d.request(t, "GET", "/_/p/dev/away", "")); resp.StatusCode != 502 || resp.Header.Get("Location") != "" {
		t.Errorf("a redirect: %d %v", resp.StatusCode, resp.Header)
	}
	if resp := d.do(t, d.request(t, "GET", "/_/p/dev/busy", "")); resp.StatusCode != 503 || resp.Header.Get("Retry-After") != "3" {
		t.Errorf("busy: %d %v", resp.StatusCode, resp.Header)
	}
	if resp := d.do(t, d.request(t, "GET", "/_/p/dead/Tables", "")); resp.StatusCode != 502 || resp.Header.Get("X-Edgetable-Explorer") != "unreachable" || !strings.Contains(resp.body, "cannot be reached") {
		t.Errorf("dead: %d %s", resp.StatusCode, resp.body)
	}
	resp, err := http.DefaultClient.Do(d.request(t, "GET", "/_/p/dev/cut", ""))
	if err == nil {
		_, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	if err == nil {
		t.Error("a part of an answer looks whole")
	}
}

// TestAnswersAreWhole checks that a response is complete, even if the service sends the response before reading the
// request. If the body of a request is too large, the request must be refused.
func TestAnswersAreWhole(t *testing.T) {
	t.Parallel()
	want := strings.Repeat("answer ", 10_000)
	d := open(t, func(w http.ResponseWriter, r *http.Request) { // a service may respond before it reads the request
		if r.Header.Get("Prefer") != "" {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		_, _ = io.WriteString(w, want)
	})
	go func() {
		for range d.got {
		}
	}()
	body := strings.Repeat("x", 100_000)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 40 {
				r := d.request(t, "POST", "/_/p/dev/$batch", body, "Content-Type", "multipart/mixed")
				if i%2 == 0 {
					r.Header.Set("Prefer", "return-no-content")
				}
				if answer := d.do(t, r); answer.StatusCode != 200 || answer.body != want {
					t.Errorf("%d, %d bytes of %d", answer.StatusCode, len(answer.body), len(want))
				}
			}
		})
	}
	all.Wait()
	if answer := d.do(t, d.request(t, "POST", "/_/p/dev/$batch", strings.Repeat("x", 9<<20))); answer.StatusCode != 413 {
		t.Errorf("9 MiB: %d, want 413", answer.StatusCode)
	}
}

// TestUntold checks the response about a table's traffic if the service does not report traffic. It must not have an
// error status, because the browser would show an error in its console.
func TestUntold(t *testing.T) {
	t.Parallel()
	d := open(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotImplemented)
		_, _ = w.Write([]byte(`{"odata.error":{"code":"NotImplemented","message":{"lang":"en-US","value":"no"}}}`))
	})
	resp := d.do(t, d.request(t, "GET", "/_/traffic/prod/People", ""))
	if resp.StatusCode != 200 || !strings.Contains(resp.body, `{"untold":"`) {
		t.Errorf("%d %s", resp.StatusCode, resp.body)
	}
	if r := <-d.got; r.Method != "GET" || r.RequestURI != "/acme/People?comp=traffic" {
		t.Errorf("%s %s", r.Method, r.RequestURI)
	}
}
