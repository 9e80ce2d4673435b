//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// victim is the second account, which is not hostile. It uses a separate address, and its requests must still be
// served.
type victim struct {
	s     *server
	http  *http.Client
	pace  time.Duration
	mu    sync.Mutex
	wrong []error // errors of the first requests that were refused or failed
}

// measured is one measured request of the second account.
type measured struct {
	kind     string
	at, took time.Duration
}

// result holds the measurements of the second account.
type result struct {
	duration        time.Duration
	requests        []measured
	refused, failed int
	server, here    time.Duration // CPU time of the server and of this process
}

func newVictim(o *options, s *server) (*victim, error) {
	v := &victim{s: s, pace: o.pause, http: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		MaxIdleConnsPerHost: 16, DialContext: dialer("127.0.0.1").DialContext, TLSClientConfig: s.tls,
	}}}
	for _, account := range names {
		if status, err := v.do(account, "POST", "/Tables", `{"TableName":"Attacked"}`); status != 201 {
			return nil, fmt.Errorf("create a table: %d, %v", status, err)
		}
	}
	for _, fill := range []struct {
		account, partition string
		rows, size         int
	}{
		{"acme", "p", 200, 1000},
		{"evil", "a", 60, 60_000}, // 60 of these entities make a page of nearly 4 MiB
		{"evil", "s", 1000, 6000},
	} {
		for i := range fill.rows {
			status, err := v.do(fill.account, "POST", "/Attacked", entity(fill.partition, fmt.Sprintf("%06d", i), fill.size))
			if status != 201 {
				return nil, fmt.Errorf("insert: %d, %w", status, err)
			}
		}
	}
	return v, nil
}

func dialer(source string) *net.Dialer {
	return &net.Dialer{Timeout: 10 * time.Second, LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}}
}

// dial opens a connection, over TLS if the server requires it.
func (s *server) dial(ctx context.Context, d *net.Dialer) (net.Conn, error) {
	if s.tls == nil {
		return d.DialContext(ctx, "tcp", s.addr)
	}
	return (&tls.Dialer{NetDialer: d, Config: s.tls}).DialContext(ctx, "tcp", s.addr)
}

// sign returns the headers for SharedKeyLite.
func (s *server) sign(account, path string) http.Header {
	date := time.Now().UTC().Format(http.TimeFormat)
	mac := hmac.New(sha256.New, s.keys[account])
	fmt.Fprintf(mac, "%s\n/%s/%s%s", date, account, account, path)
	h := http.Header{}
	h.Set("x-ms-date", date)
	h.Set("x-ms-version", "2019-02-02")
	h.Set("Authorization", "SharedKeyLite "+account+":"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return h
}

func (v *victim) do(account, method, path, body string) (status int, err error) {
	req, err := http.NewRequest(method, v.s.url()+"/"+account+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	bare, _, _ := strings.Cut(path, "?")
	req.Header = v.s.sign(account, bare)
	req.Header.Set("Accept", "application/json;odata=nometadata")
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

// measure reads, writes and scans for some time. If disable is set, it disables an account halfway through.
func (v *victim) measure(d time.Duration, s *server, disable bool) *result {
	r := &result{duration: d, server: -s.used(), here: -usedHere()}
	begin := time.Now()
	var wait sync.WaitGroup
	run := func(kind string, do func(n int) (int, error)) {
		wait.Go(func() {
			for n := 0; time.Since(begin) < d; n++ {
				sent := time.Now()
				status, err := do(n)
				for try := 0; try < 3 && status == 0 && closed(err); try++ {
					status, err = do(n)
				}
				v.count(r, measured{kind, sent.Sub(begin), time.Since(sent)}, status, err)
				time.Sleep(v.pace)
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
	for time.Since(begin) < d {
		time.Sleep(time.Second)
		if err := s.look(time.Since(begin)); err != nil {
			v.fail(r, err)
			break
		}
		if disable && time.Since(begin) > d/2 {
			disable, s.disabled = false, v.disable()
		}
	}
	wait.Wait()
	r.server += s.used()
	r.here += usedHere()
	return r
}

// closed reports whether the server closed an idle connection just when a request was sent. The server's
// documented limits permit this, and the SDKs retry such a request.
func closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// count records a request.
func (v *victim) count(r *result, m measured, status int, err error) {
	v.mu.Lock()
	r.requests = append(r.requests, m)
	v.mu.Unlock()
	switch {
	case status == 503:
		v.mu.Lock()
		r.refused++
		v.mu.Unlock()
		v.note(fmt.Errorf("%s: 503 after %v, %w", m.kind, m.at, err))
	case status == 0 || status >= 300:
		v.fail(r, fmt.Errorf("%s: %d after %v, %w", m.kind, status, m.at, err))
	}
}

func (v *victim) fail(r *result, err error) {
	v.mu.Lock()
	r.failed++
	v.mu.Unlock()
	v.note(err)
}

func (v *victim) note(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.wrong) < 20 {
		v.wrong = append(v.wrong, err)
	}
}

// disable withdraws an account's access. It returns how long the server still served the account afterwards.
func (v *victim) disable() time.Duration {
	if err := v.s.writeAccounts("gone"); err != nil {
		v.note(err)
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

// parts is the number of time slices of a result.
const parts = 12

func (r *result) String() string {
	var b strings.Builder
	b.WriteString("| Request | Number | p50 | p99 | Longest |\n|---|---|---|---|---|\n")
	for _, kind := range []string{"read", "scan", "write", "large write"} {
		if n, p50, p99, longest := r.times(func(m measured) bool { return m.kind == kind }); n > 0 {
			fmt.Fprintf(&b, "| %s | %d | %v | %v | %v |\n", kind, n, p50, p99, longest)
		}
	}
	fmt.Fprintf(&b, "\n%d refused, %d failed. p99 of all in %d parts of the time:", r.refused, r.failed, parts)
	for i := range time.Duration(parts) {
		_, _, p99, _ := r.times(func(m measured) bool { return m.at*parts/r.duration == i })
		fmt.Fprintf(&b, " %v", p99)
	}
	fmt.Fprintf(&b, "\n\nThe server used %.2f of a processor, this program %.2f.\n", r.server.Seconds()/r.duration.Seconds(), r.here.Seconds()/r.duration.Seconds())
	return b.String()
}

func (r *result) times(of func(measured) bool) (n int, p50, p99, longest time.Duration) {
	var list []time.Duration
	for _, m := range r.requests {
		if of(m) {
			list = append(list, m.took)
		}
	}
	if slices.Sort(list); len(list) == 0 {
		return 0, 0, 0, 0
	}
	show := func(i int) time.Duration { return list[i].Round(10 * time.Microsecond) }
	return len(list), show(len(list) / 2), show(len(list) * 99 / 100), show(len(list) - 1)
}
