package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"edgetable/testdata/must"
	"edgetable/testdata/needs"
	"edgetable/testdata/proc"
)

// pebble is the ACME test server of Let's Encrypt, used as a private certificate authority.
type pebble struct {
	directory, ca string         // values for EDGETABLE_ACME_DIRECTORY and EDGETABLE_ACME_CA
	roots         *x509.CertPool // roots of the certificates that Pebble issues
	forward       func(to string)
}

// freePort returns an unused port. Pebble gets this port, because it does not report a port that it
// chose itself.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// startPebble starts Pebble and a name server. The name server resolves every name to this machine.
// To validate a domain, Pebble connects to a port of this machine, and the function forward
// connects this port to the server. Pebble's certificates are valid for the given time.
func startPebble(t *testing.T, valid time.Duration) *pebble {
	t.Helper()
	needs.These(t, needs.ACME)
	out, err := exec.Command("../../.ci/pebble").Output()
	must.OK(t, err)
	bin := strings.TrimSpace(string(out))
	cert, key, api := proc.Certificate(t, time.Now().Add(time.Hour))
	door, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	t.Cleanup(func() { door.Close() })
	target := make(chan string, 1)
	go forward(door, target)

	acmePort, managePort, dnsPort := freePort(t), freePort(t), freePort(t)
	dir := t.TempDir()
	config, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": fmt.Sprintf("127.0.0.1:%d", acmePort), "managementListenAddress": fmt.Sprintf("127.0.0.1:%d", managePort),
		"certificate": cert, "privateKey": key, "httpPort": freePort(t), "tlsPort": door.Addr().(*net.TCPAddr).Port,
		"retryAfter": map[string]int{"authz": 1, "order": 1},
		"profiles":   map[string]any{"default": map[string]any{"description": valid.String(), "validityPeriod": int(valid.Seconds())}},
	}})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "config.json"), config, 0o600)
	}
	must.OK(t, err)
	run := func(name string, args ...string) *proc.Buffer {
		t.Helper()
		c := exec.Command(filepath.Join(bin, name), args...)
		c.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1")
		return proc.Start(t, "", c).Log
	}
	run("pebble-challtestsrv", "-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", "", "-management", "127.0.0.1:0",
		"-dns01", fmt.Sprintf("127.0.0.1:%d", dnsPort), "-defaultIPv6", "")
	log := run("pebble", "-config", filepath.Join(dir, "config.json"), "-dnsserver", fmt.Sprintf("127.0.0.1:%d", dnsPort))

	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: api}, DisableKeepAlives: true}}
	fetch := func(url string) []byte {
		t.Helper()
		var resp *http.Response
		must.Eventually(t, "the ACME server listens", log, func() (ok bool) { // wait, because Pebble (the ACME server) prints that it listens before it really listens
			resp, err = client.Get(url)
			return err == nil
		})
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("%s: %d %s, %v", url, resp.StatusCode, text, err)
		}
		return text
	}
	p := &pebble{directory: fmt.Sprintf("https://127.0.0.1:%d/dir", acmePort), ca: cert, roots: x509.NewCertPool(), forward: func(to string) { target <- to }}
	fetch(p.directory)
	p.roots.AppendCertsFromPEM(fetch(fmt.Sprintf("https://127.0.0.1:%d/roots/0", managePort)))
	return p
}

// forward receives one address from a channel. Then it accepts connections, and connects each
// connection to this address.
func forward(door net.Listener, target <-chan string) {
	to := <-target
	for {
		in, err := door.Accept()
		if err != nil {
			return
		}
		go func() {
			defer in.Close()
			out, err := net.Dial("tcp", to)
			if err != nil {
				return
			}
			defer out.Close()
			go func() { _, _ = io.Copy(out, in) }()
			_, _ = io.Copy(in, out)
		}()
	}
}

// TestACME checks that a server gets certificates for its domains and serves HTTPS with them. After
// a restart, the server must use these certificates without the certificate authority.
func TestACME(t *testing.T) {
	t.Parallel()
	p := startPebble(t, 90*24*time.Hour)
	data := t.TempDir()
	flags := []string{"--data", data, "--log-format", "json", "--acme-domain", "tables.example.test,other.example.test"}
	s := start(t, map[string]string{"EDGETABLE_ACME_DIRECTORY": p.directory, "EDGETABLE_ACME_CA": p.ca}, flags...)
	address := strings.TrimSpace(strings.Split(strings.Split(s.greeting, "listens on ")[1], " ")[0])
	p.forward(address)
	serial := func(name string) string {
		t.Helper()
		serial := ""
		eventually(t, "there is a certificate for "+name, s, func() bool {
			conn, err := tls.Dial("tcp", address, &tls.Config{RootCAs: p.roots, ServerName: name})
			if err == nil {
				serial = conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
				conn.Close()
			}
			return err == nil
		})
		return serial
	}
	first, second := serial("tables.example.test"), serial("other.example.test")
	if first == second || !strings.Contains(s.greetingText(t, "endpoint"), "https://tables.example.test:") {
		t.Errorf("certificates %s and %s\n%s", first, second, s.greeting)
	}
	if conn, err := tls.Dial("tcp", address, &tls.Config{RootCAs: p.roots, ServerName: "stranger.example.test"}); err == nil {
		conn.Close()
		t.Error("a name that is none of ours has a certificate")
	}
	// Clients use the tables over TLS.
	c := s.client(t, "")
	c.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: p.roots, ServerName: "tables.example.test"}}
	c.endpoint = "https://" + address + "/devstoreaccount1"
	c.fill(t)
	c.filled(t)
	c.CloseIdleConnections()
	s.ends(t)
	for _, record := range records(t, s.logs.String()) {
		if record["level"] != "INFO" {
			t.Errorf("the log: %v", record)
		}
	}
	files, err := os.ReadDir(filepath.Join(data, "acme"))
	if err != nil || len(files) < 3 { // one of the files has the key of the ACME account
		t.Errorf("%v, %v", files, err)
	}
	for _, f := range append(files, dirEntry(t, filepath.Join(data, "acme"))) {
		if info, err := f.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", f.Name(), info, err)
		}
	}
	s = start(t, map[string]string{"EDGETABLE_ACME_DIRECTORY": "https://127.0.0.1:1/dir"}, flags...)
	address = strings.TrimSpace(strings.Split(strings.Split(s.greeting, "listens on ")[1], " ")[0])
	if serial("tables.example.test") != first || serial("other.example.test") != second {
		t.Error("after a restart there are other certificates")
	}
	s.ends(t)
}

// TestACMERenews checks that the server renews a certificate after two thirds of the lifetime. The
// server must then use the new certificate, and the metric must show the expiry of this
// certificate.
func TestACMERenews(t *testing.T) {
	t.Parallel()
	p := startPebble(t, 30*time.Second)
	s := start(t, map[string]string{"EDGETABLE_ACME_DIRECTORY": p.directory, "EDGETABLE_ACME_CA": p.ca, "EDGETABLE_ACME_CACHE": t.TempDir()},
		"--memory", "--acme-domain", "tables.example.test", "--metrics-listen", "127.0.0.1:0")
	address := strings.TrimSpace(strings.Split(strings.Split(s.greeting, "listens on ")[1], " ")[0])
	p.forward(address)
	var first, second *x509.Certificate
	eventually(t, "the certificate is renewed", s, func() bool {
		conn, err := tls.Dial("tcp", address, &tls.Config{RootCAs: p.roots, ServerName: "tables.example.test"})
		if err != nil {
			return false
		}
		switch got := conn.ConnectionState().PeerCertificates[0]; {
		case first == nil:
			first = got
		case got.SerialNumber.Cmp(first.SerialNumber) != 0:
			second = got
		}
		conn.Close()
		return second != nil
	})
	if !second.NotAfter.After(first.NotAfter) {
		t.Errorf("the second certificate ends at %v, the first one at %v", second.NotAfter, first.NotAfter)
	}
	s.look()
	if end := sumOf(t, s.scrape(t, ""), "certificate_expiry_timestamp_seconds"); end < float64(second.NotAfter.Unix()) {
		t.Errorf("the metric shows a certificate until %v, not the second one", end)
	}
	s.ends(t)
}

func dirEntry(t *testing.T, path string) os.DirEntry {
	t.Helper()
	info, err := os.Stat(path)
	must.OK(t, err)
	return fs.FileInfoToDirEntry(info)
}
