//go:build linux

package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// victim is the account that wants to go on, at an address of its own.
type victim struct {
	s     *server
	http  *http.Client
	mu    sync.Mutex
	first error // of a request that was refused or failed
}

// result is what the victim saw.
type result struct {
	took            map[string][]time.Duration
	refused, failed int
}

func newVictim(s *server) (*victim, error) {
	v := &victim{s: s, http: &http.Client{
		Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 16, DialContext: dialer("127.0.0.1").DialContext},
	}}
	for _, account := range names {
		if status, err := v.do(account, "POST", "/Tables", `{"TableName":"Attacked"}`); status != 201 {
			return nil, fmt.Errorf("create a table: %d, %v", status, err)
		}
	}
	for i := range 200 {
		if err := v.insert("acme", "p", fmt.Sprintf("%06d", i), 1000); err != nil {
			return nil, err
		}
	}
	for i := range 60 { // a page of evil has nearly 4 MiB
		if err := v.insert("evil", "a", fmt.Sprintf("%06d", i), 60_000); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func dialer(source string) *net.Dialer {
	return &net.Dialer{Timeout: 10 * time.Second, LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}}
}

// sign adds the headers of SharedKeyLite.
func (s *server) sign(account, path string, h http.Header) {
	date := time.Now().UTC().Format(http.TimeFormat)
	mac := hmac.New(sha256.New, s.keys[account])
	fmt.Fprintf(mac, "%s\n/%s/%s%s", date, account, account, path)
	h.Set("x-ms-date", date)
	h.Set("x-ms-version", "2019-02-02")
	h.Set("Authorization", "SharedKeyLite "+account+":"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	h.Set("Accept", "application/json;odata=nometadata")
}

func (v *victim) do(account, method, path, body string) (status int, err error) {
	req, err := http.NewRequest(method, "http://"+v.s.addr+"/"+account+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	bare, _, _ := strings.Cut(path, "?")
	v.s.sign(account, bare, req.Header)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := v.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var text bytes.Buffer
	_, err = io.Copy(&text, resp.Body)
	if resp.StatusCode >= 300 {
		err = errors.New(text.String())
	}
	return resp.StatusCode, err
}

func (v *victim) insert(account, partition, row string, size int) error {
	status, err := v.do(account, "POST", "/Attacked", fmt.Sprintf(`{"PartitionKey":"%s","RowKey":"%s","A":"%s","B":"%s"}`, partition, row, strings.Repeat("x", size/2), strings.Repeat("y", size/2)))
	if status != 201 {
		return fmt.Errorf("insert: %d, %w", status, err)
	}
	return nil
}

// measure reads, writes and scans for some time.
func (v *victim) measure(d time.Duration, s *server) *result {
	r := &result{took: map[string][]time.Duration{}}
	end := time.Now().Add(d)
	var wait sync.WaitGroup
	run := func(kind string, do func(n int) (int, error)) {
		wait.Go(func() {
			for n := 0; time.Now().Before(end); n++ {
				begin := time.Now()
				status, err := do(n)
				if status == 0 && errors.Is(err, io.EOF) || status == 0 && err != nil && strings.Contains(err.Error(), "reset by peer") {
					status, err = do(n) // the server closed an idle connection at that moment: clients repeat
				}
				took := time.Since(begin)
				v.mu.Lock()
				r.took[kind] = append(r.took[kind], took)
				switch {
				case status == 503:
					r.refused++
				case status == 0 || status >= 300 && status != 409:
					r.failed++
				}
				if (status == 0 || status >= 300 && status != 409) && v.first == nil {
					v.first = fmt.Errorf("%s: %d, %w", kind, status, err)
				}
				v.mu.Unlock()
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	run("write", func(n int) (int, error) {
		return v.do("acme", "PUT", fmt.Sprintf("/Attacked(PartitionKey='w',RowKey='%d')", n%5000), `{"A":"`+strings.Repeat("x", 1000)+`"}`)
	})
	run("large write", func(n int) (int, error) {
		return v.do("acme", "PUT", fmt.Sprintf("/Attacked(PartitionKey='l',RowKey='%d')", n%200), `{"A":"`+strings.Repeat("x", 30_000)+`"}`)
	})
	run("read", func(n int) (int, error) {
		return v.do("acme", "GET", fmt.Sprintf("/Attacked(PartitionKey='p',RowKey='%06d')", n%200), "")
	})
	run("scan", func(int) (int, error) { return v.do("acme", "GET", "/Attacked()?$filter=PartitionKey%20eq%20'p'", "") })
	begin := time.Now()
	for time.Now().Before(end) {
		time.Sleep(time.Second)
		if err := s.look(time.Since(begin)); err != nil {
			v.mu.Lock()
			v.first = err
			r.failed++
			v.mu.Unlock()
			break
		}
		if d > 10*time.Second && s.disabled == 0 && time.Since(begin) > d/2 {
			s.disabled = v.disable()
		}
	}
	wait.Wait()
	return r
}

// disable disables an account, and returns for how long it was served still.
func (v *victim) disable() time.Duration {
	if err := v.s.writeAccounts("gone"); err != nil {
		v.first = err
	}
	begin := time.Now()
	for time.Since(begin) < 20*time.Second {
		if status, _ := v.do("gone", "GET", "/Tables", ""); status == 403 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return time.Since(begin)
}

func (r *result) String() string {
	var b strings.Builder
	for _, kind := range []string{"read", "scan", "write", "large write"} {
		l := r.took[kind]
		slices.Sort(l)
		if len(l) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%d × %s p50 %v p99 %v max %v; ", len(l), kind, show(l[len(l)/2]), show(l[len(l)*99/100]), show(l[len(l)-1]))
	}
	fmt.Fprintf(&b, "%d refused, %d failed", r.refused, r.failed)
	return b.String()
}

func show(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
