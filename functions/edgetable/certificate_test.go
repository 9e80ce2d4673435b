package main

import (
	"crypto/tls"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"edgetable/testdata/must"
	"edgetable/testdata/proc"
)

// certificateExpiry returns the expiry time of the certificate that the server presents.
func certificateExpiry(t *testing.T, address string) time.Time {
	t.Helper()
	// not trusted, because the test reads only the expiry of the certificate
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	must.OK(t, err)
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].NotAfter
}

// TestCertificateReload checks that new connections get a replaced certificate. If the new file is
// invalid, the server must keep the old certificate.
func TestCertificateReload(t *testing.T) {
	t.Parallel()
	first, key, _ := proc.Certificate(t, time.Now().Add(time.Hour))
	next, nextKey, _ := proc.Certificate(t, time.Now().Add(1000*time.Hour))
	s := start(t, nil, "--memory", "--tls-cert", first, "--tls-key", key)
	address := strings.Split(s.greetingText(t, "endpoint"), "/")[2]
	if !strings.Contains(s.logs.String(), "the certificate expires soon") {
		t.Errorf("the log: %s", s.logs)
	}
	rename := func(from, to string) {
		t.Helper()
		must.OK(t, os.Rename(from, to))
	}
	rename(next, first) // the key file still belongs to the old certificate
	s.look()
	if !strings.Contains(s.logs.String(), "the certificate cannot be reloaded; the previous certificate stays in use") {
		t.Errorf("the log:\n%s", s.logs)
	}
	if end := certificateExpiry(t, address); time.Until(end) > 2*time.Hour {
		t.Errorf("a certificate without its key is served, until %v", end)
	}
	rename(nextKey, key)
	s.look()
	if time.Until(certificateExpiry(t, address)) < 2*time.Hour {
		t.Fatalf("the old certificate is served\n%s", s.logs)
	}
	s.ends(t)
}

// TestExpiredCertificate checks that a server logs at its start that its certificate has expired.
func TestExpiredCertificate(t *testing.T) {
	t.Parallel()
	cert, key, _ := proc.Certificate(t, time.Now().Add(-time.Minute))
	s := start(t, nil, "--memory", "--tls-cert", cert, "--tls-key", key)
	if !strings.Contains(s.logs.String(), "the certificate has expired") {
		t.Errorf("the log: %s", s.logs)
	}
	s.ends(t)
	cert, key, _ = proc.Certificate(t, time.Now().Add(30*24*time.Hour))
	s = start(t, nil, "--memory", "--tls-cert", cert, "--tls-key", key)
	if strings.Contains(s.logs.String(), "expire") {
		t.Errorf("the log: %s", s.logs)
	}
}

// TestPlainHTTPToTLS checks the response to a client that uses http instead of https. The response
// must explain the mistake.
func TestPlainHTTPToTLS(t *testing.T) {
	t.Parallel()
	cert, key, roots := proc.Certificate(t, time.Now().Add(time.Hour))
	s := start(t, nil, "--memory", "--tls-cert", cert, "--tls-key", key, "--public-url", "https://tables.example.com/")
	if endpoint := s.greetingText(t, "endpoint"); endpoint != "https://tables.example.com/devstoreaccount1" {
		t.Errorf("endpoint %s", endpoint)
	}
	_, address, _ := strings.Cut(s.greeting, " listens on ")
	address, _, _ = strings.Cut(address, " ")
	for _, method := range []string{"GET", "POST"} {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+"/devstoreaccount1/Tables", strings.NewReader(strings.Repeat("x", 20_000)))
		must.OK(t, err)
		resp, err := http.DefaultClient.Do(req)
		must.OK(t, err)
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != 400 || !strings.Contains(string(text), "write https://") {
			t.Errorf("%s: %d %q, %v", method, resp.StatusCode, text, err)
		}
	}
	c := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	resp, err := c.Get("https://" + address + "/_/live")
	if err != nil || resp.StatusCode != 200 {
		t.Errorf("https: %v, %v", resp, err)
	}
	c.CloseIdleConnections()
}
