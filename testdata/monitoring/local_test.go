package monitoring_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"edgetable/testdata/needs"
	"edgetable/testdata/proc"
)

// TestRules runs promtool, which checks that the rules are valid and that each alert fires when it
// should.
func TestRules(t *testing.T) {
	needs.These(t, needs.Prometheus)
	t.Parallel()
	t.Log(run(t, "", "promtool", "check", "rules", rules))
	t.Log(run(t, "", "promtool", "test", "rules", ruleTests))

	// Put both files into one folder, where Prometheus has them in its container.
	dir := t.TempDir()
	for name, file := range map[string]string{"alerts.yml": rules, "prometheus.yml": root + "infra/machines/compose/prometheus.yml"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(read(t, file)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Log(run(t, "", "promtool", "check", "config", filepath.Join(dir, "prometheus.yml")))
}

// TestEmbedded lets a real Prometheus scrape a server under load, and checks that every panel and
// every alert finds data.
func TestEmbedded(t *testing.T) {
	needs.These(t, needs.Prometheus)
	t.Parallel()
	cert, key, roots := proc.Certificate(t, time.Now().Add(time.Hour))
	// A low limit of concurrent requests makes requests wait, and simulated faults make requests fail.
	s := serve(t, []string{"SSL_CERT_FILE=" + cert}, "--data", filepath.Join(t.TempDir(), "data"), "--backup-to", t.TempDir(), "--backup-log", "1s", "--tls-cert", cert, "--tls-key", key,
		"--cache-size", "64MiB", "--max-requests", "40", "--limits", "failures=1", "--chaos", "operation=GetEntity probability=0.01 fault=500")
	if problems := strings.TrimSpace(run(t, s.scrape(t), "promtool", "check", "metrics")); problems != "" {
		t.Errorf("promtool check metrics: %s", problems)
	}
	s.bench(t, "--op", "scan", "--table", "scanned", "--entities", "3000", "--connections", "2")
	s.bench(t, "--op", "mixed", "--table", "mixed", "--entities", "20000", "--connections", "32")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go strangers(ctx, s.endpoint, roots)

	list := expressions(t, func(p panel) bool { return p.row != "DynamoDB" && p.row != "PostgreSQL" },
		func(g group) bool {
			return g.Name != "edgetable-dynamodb" && g.Name != "edgetable-postgres" && g.Name != "edgetable-secondary"
		})
	s.checkExpressions(t, list, healthy{
		"Full disk full":                    "a disk without space (TestFullDisk of functions/edgetable)",
		"Full disk refused per second":      "a disk without space (TestFullDisk of functions/edgetable)",
		"Age of the newest backup failures": "a place for backups that cannot be reached",
		"EdgetableBackupFails":              "a place for backups that cannot be reached",
		"Queue {{kind}} waiting":            "a moment with more requests than places; a scrape need not meet one",
		"Compactions debt":                  "a disk that is slower than the writes",
		"Background work write stalls":      "a disk that is slower than the writes",
		"Damage damaged blocks met":         "changed bytes in a data file (TestDamagedBlock of pebblestore)",
		"Clock ETags ahead":                 "a clock that is set back (TestMetricsOfClock of pebblestore)",
	})
	// The certificate expires within an hour, so this alert must fire.
	s.checkAlerts(t, "EdgetableCertificateExpires")
}

// strangers sends requests with a wrong signature from a separate address. It sends so many that the server
// limits the sign-ins of this address.
func strangers(ctx context.Context, endpoint string, roots *x509.CertPool) {
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	c := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DialContext: from.DialContext}}
	for ctx.Err() == nil {
		req, err := http.NewRequestWithContext(ctx, "GET", endpoint+"/Tables", nil)
		if err != nil {
			return
		}
		req.Header.Set("Authorization", "SharedKeyLite nobody")
		if resp, err := c.Do(req); err == nil {
			resp.Body.Close()
		}
		pause(ctx)
	}
}

// pause waits for a short time, or until ctx ends.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(100 * time.Millisecond):
	}
}
