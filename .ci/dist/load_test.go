package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// client returns a client whose requests are sent in the engine's network namespace, where the ports of containers
// are published.
func (e *engine) client(t *testing.T) *http.Client {
	t.Helper()
	network, err := os.Open("/proc/" + e.alone + "/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = network.Close() })
	dial := func(ctx context.Context, kind, address string) (c net.Conn, err error) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			runtime.LockOSThread() // the thread is never unlocked, so it ends with this goroutine and no other goroutine runs in its network namespace
			if err = unix.Setns(int(network.Fd()), unix.CLONE_NEWNET); err == nil {
				c, err = new(net.Dialer).DialContext(ctx, kind, address)
			}
		}()
		<-done
		return c, err
	}
	return &http.Client{Transport: &http.Transport{DialContext: dial, MaxIdleConnsPerHost: writerCount}}
}

const writerCount = 4

// writers is a group of goroutines (the writers) that put rows into a table concurrently. Each writer sends one row
// after the other, and records the rows that the server confirmed.
type writers struct {
	client   *http.Client
	endpoint string // of the form http://HOST/ACCOUNT
	account  string
	key      []byte
	patient  bool // whether a writer continues after a failed request

	end       chan struct{}
	all       sync.WaitGroup
	mu        sync.Mutex
	confirmed []string // PartitionKey/RowKey of each confirmed row
	failed    []failure
	enough    chan struct{} // receives a value when the thousandth row is confirmed, and each time a writer ends
}

// span is a period of time.
type span struct{ from, to time.Time }

func (s span) meets(other span) bool { return !s.to.Before(other.from) && !other.to.Before(s.from) }

// failure is a failed request, with the period in which it was in flight.
type failure struct {
	span
	why string
}

func (w *writers) write(t *testing.T) {
	t.Helper()
	w.end, w.enough = make(chan struct{}), make(chan struct{}, writerCount+1)
	if why := w.send(http.MethodPost, "/Tables", `{"TableName":"Load"}`, nil); why != nil {
		t.Fatal(why)
	}
	for i := range writerCount {
		w.all.Go(func() { w.rows(i) })
	}
}

func (w *writers) rows(partition int) {
	defer func() { w.enough <- struct{}{} }()
	for n := 0; ; n++ {
		select {
		case <-w.end:
			return
		default:
		}
		s := span{from: time.Now()}
		why := w.send(http.MethodPut, fmt.Sprintf("/Load(PartitionKey='%d',RowKey='%07d')", partition, n), `{"N":1}`, nil)
		s.to = time.Now()
		w.mu.Lock()
		if why == nil {
			if w.confirmed = append(w.confirmed, fmt.Sprintf("%d/%07d", partition, n)); len(w.confirmed) == 1000 {
				w.enough <- struct{}{}
			}
		} else {
			w.failed = append(w.failed, failure{s, why.Error()})
		}
		w.mu.Unlock()
		if why != nil && !w.patient {
			return
		}
	}
}

func (w *writers) stop() {
	close(w.end)
	w.all.Wait()
}

// checkRows checks that each confirmed row exists, and that only requests that were in flight at a kill failed.
func (w *writers) checkRows(t *testing.T, kills []span) {
	t.Helper()
	within := 0
	for _, f := range w.failed {
		met := false
		for _, kill := range kills {
			met = met || f.meets(kill)
		}
		if met {
			within++
		} else {
			t.Errorf("from %s to %s: %s", f.from.Format(time.TimeOnly), f.to.Format(time.TimeOnly), f.why)
		}
	}
	t.Logf("%d rows were confirmed; %d requests failed at %d kills", len(w.confirmed), within, len(kills))
	there := map[string]bool{}
	for next := ""; ; {
		var page struct {
			Value []struct{ PartitionKey, RowKey string }
		}
		header := http.Header{}
		if why := w.send(http.MethodGet, "/Load()?$select=PartitionKey,RowKey"+next, "", func(h http.Header, body []byte) error {
			header = h
			return json.Unmarshal(body, &page)
		}); why != nil {
			t.Fatal(why)
		}
		for _, row := range page.Value {
			there[row.PartitionKey+"/"+row.RowKey] = true
		}
		if header.Get("x-ms-continuation-NextPartitionKey") == "" {
			break
		}
		next = "&NextPartitionKey=" + url.QueryEscape(header.Get("x-ms-continuation-NextPartitionKey")) + "&NextRowKey=" + url.QueryEscape(header.Get("x-ms-continuation-NextRowKey"))
	}
	missing := 0
	for _, row := range w.confirmed {
		if !there[row] {
			missing++
		}
	}
	if missing > 0 || len(w.confirmed) < 1000 {
		t.Errorf("of %d confirmed rows %d are missing", len(w.confirmed), missing)
	}
}

// send sends a request that is signed with the account key. A status other than 2xx is an error.
func (w *writers) send(method, path, body string, read func(http.Header, []byte) error) error {
	req, err := http.NewRequest(method, w.endpoint+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	date := time.Now().UTC().Format(http.TimeFormat)
	mac := hmac.New(sha256.New, w.key)
	fmt.Fprintf(mac, "%s\n/%s%s", date, w.account, req.URL.EscapedPath())
	req.Header.Set("Authorization", "SharedKeyLite "+w.account+":"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	req.Header.Set("x-ms-date", date)
	req.Header.Set("x-ms-version", "2019-02-02")
	req.Header.Set("Accept", "application/json;odata=nometadata")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, bytes.TrimSpace(text))
	}
	if read != nil {
		return read(resp.Header, text)
	}
	return nil
}
