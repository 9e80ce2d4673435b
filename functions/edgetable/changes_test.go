package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"edgetable/testdata/must"
)

// TestChanges checks that an event stream of the server delivers changes as they happen, also to a page of another
// origin. When the server stops, the stream must end without an error.
func TestChanges(t *testing.T) {
	t.Parallel()
	s := start(t, nil, "--memory")
	c := s.client(t, "")
	at := s.greetingText(t, "connection string")
	do := console{t, nil}
	do.run(0, "tables", "create", "People", "--to", at)
	do.run(0, "tables", "set", "People", "--changes", "P1D", "--to", at)
	c.do(t, "PUT", "/?restype=service&comp=properties", `<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>http://a.com</AllowedOrigins><AllowedMethods>GET</AllowedMethods><AllowedHeaders>*</AllowedHeaders><ExposedHeaders>x-edgetable-next</ExposedHeaders><MaxAgeInSeconds>60</MaxAgeInSeconds></CorsRule></Cors></StorageServiceProperties>`, 202)
	sas, _ := do.run(0, "sas", "-q", "--endpoint", c.endpoint, "--table", "People", "--permissions", "read")
	ask := func(query, accept string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "GET", c.endpoint+"/People?comp=changes&"+strings.TrimSpace(sas)+query, nil)
		must.OK(t, err)
		req.Header.Set("Accept", accept)
		req.Header.Set("Origin", "http://a.com")
		resp, err := http.DefaultClient.Do(req)
		must.OK(t, err)
		t.Cleanup(func() { resp.Body.Close() })
		if resp.StatusCode != 200 || resp.Header.Get("Access-Control-Allow-Origin") != "http://a.com" {
			t.Fatalf("status %d, %v", resp.StatusCode, resp.Header)
		}
		return resp
	}
	stream := ask("", "text/event-stream")
	lines := bufio.NewReader(stream.Body)
	for line := "first"; line != "\n"; {
		var err error
		line, err = lines.ReadString('\n')
		must.OK(t, err)
	}
	for i := range 3 {
		c.do(t, "POST", "/People", fmt.Sprintf(`{"PartitionKey":"a","RowKey":"%d"}`, i), 204)
		var event strings.Builder
		for line := ""; line != "\n"; event.WriteString(line) {
			var err error
			line, err = lines.ReadString('\n')
			must.OK(t, err)
		}
		if text := event.String(); !strings.HasPrefix(text, "id: ") || !strings.Contains(text, fmt.Sprintf(`"rowkey":"%d"`, i)) {
			t.Errorf("change %d: %s", i, text)
		}
	}
	list := ask("&since=start", "application/json")
	if text, err := io.ReadAll(list.Body); err != nil || strings.Count(string(text), `"specversion"`) != 3 || !strings.Contains(list.Header.Get("Access-Control-Expose-Headers"), "x-edgetable-next") {
		t.Errorf("%v, %v: %s", list.Header, err, text)
	}
	s.interrupt()
	if rest, err := io.ReadAll(lines); err != nil || strings.Contains(string(rest), "data:") {
		t.Errorf("at the end of the server: %q, %v", rest, err)
	}
	s.ends(t)
}
