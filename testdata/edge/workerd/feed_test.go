package workerd_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"edgetable/testdata/edge/workerd"
)

// changesOf requests changes of the table that is named feed.
func changesOf(t *testing.T, s *workerd.Server, query string, headers ...string) (answer *http.Response, body string) {
	t.Helper()
	r := request{method: "GET", target: "/feed?comp=changes" + query, header: headers}
	answer, body, err := r.send(t.Context(), s, http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	return answer, body
}

// TestFeed reads changes of a table over HTTP: one request waits for a change, and a stream receives later changes. The
// deletion of the table must be the last change.
func TestFeed(t *testing.T) {
	s := sharing(t, "EDGETABLE_BUCKETS=2")
	must(t, 201, s, "POST", "acme", "/Tables", "", `{"TableName":"feed"}`)
	if answer, body := changesOf(t, s, ""); answer.StatusCode != 404 || !strings.Contains(body, "FeedNotEnabled") {
		t.Errorf("without a feed: %d %s", answer.StatusCode, body)
	}
	must(t, 204, s, "PUT", "acme", "/feed?comp=options", "", `{"changes":{"keep":"P7D"}}`)
	first, _ := changesOf(t, s, "")
	next := first.Header.Get("x-edgetable-next")
	if first.StatusCode != 200 || next == "" {
		t.Fatalf("the position of now: %d, %v", first.StatusCode, first.Header)
	}
	waited := make(chan string)
	go func() {
		answer, body := changesOf(t, s, "&wait=20&since="+next)
		next = answer.Header.Get("x-edgetable-next")
		waited <- body
	}()
	changesOf(t, s, "&since="+next) // when this request returns, the earlier request has arrived and waits for a change
	put(t, s, "/feed(PartitionKey='p',RowKey='one')")
	if body := <-waited; !strings.Contains(body, `"edgetable.entity.put"`) || !strings.Contains(body, `"RowKey":"one"`) {
		t.Errorf("the request that waited: %s", body)
	}
	if answer, body := changesOf(t, s, "&since="+next); body != "[]" || answer.Header.Get("x-edgetable-behind") != "0.0" {
		t.Errorf("after that: %s, %v", body, answer.Header)
	}
	if status, body := ask(t, s, "GET", "acme-secondary", "/feed", "comp=changes", ""); status != 501 {
		t.Errorf("at the address of the secondary: %d %s", status, body)
	}
	last := stream(t, s, next)
	must(t, 204, s, "DELETE", "acme", "/Tables('feed')", "", "")
	if _, body := changesOf(t, s, "&since="+last); !strings.Contains(body, `"edgetable.table.drop"`) {
		t.Errorf("after the drop: %s", body)
	} else if answer, _ := changesOf(t, s, "&since="+last); answer.Header.Get("x-edgetable-next") == "" {
		t.Error("no position after the drop")
	} else if gone, body := changesOf(t, s, "&since="+answer.Header.Get("x-edgetable-next")); gone.StatusCode != 410 || !strings.Contains(body, "FeedEnded") {
		t.Errorf("behind the drop: %d %s", gone.StatusCode, body)
	}
}

// stream reads events from a position as a stream. It returns the position after these events.
func stream(t *testing.T, s *workerd.Server, from string) (last string) {
	t.Helper()
	put(t, s, "/feed(PartitionKey='p',RowKey='two')")
	r := request{method: "GET", target: "/feed?comp=changes&since=" + from, header: []string{"Accept: text/event-stream"}}
	answer, err := r.open(t.Context(), s, http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if kind := answer.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Fatalf("%d, %s", answer.StatusCode, kind)
	}
	found := 0
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		line := lines.Text()
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			last = id
		}
		switch {
		case strings.Contains(line, `"RowKey":"two"`) && found == 0:
			found++
			put(t, s, "/feed(PartitionKey='q',RowKey='three')")
		case strings.Contains(line, `"RowKey":"three"`) && found == 1:
			found++
		case found == 2 && line == "":
			return last
		}
	}
	t.Errorf("the stream ended after %d events", found)
	return last
}
