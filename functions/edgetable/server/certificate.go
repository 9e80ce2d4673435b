package server

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/acme"

	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/descriptors"
	"edgetable/functions/edgetable/reload"
)

// warnBefore is how long before the expiry of a certificate the server starts to log warnings.
const warnBefore = 14 * 24 * time.Hour

// certificate is the server's certificate, either from files that are reloaded when they change, or from a certificate
// authority.
type certificate struct {
	certFile, keyFile string
	obtained          *obtained // certificates from an authority; nil if the certificate comes from files
	log               *slog.Logger
	open              bool // other users may be able to read the key file, because Testcontainers copies files with such a mode

	current atomic.Pointer[tls.Certificate] // certificate that expires first; nil if none was obtained yet
	files   reload.Changes
	warned  time.Time
}

// loadCertificate returns the certificate, or nil if none is configured.
func loadCertificate(certFile, keyFile string, authority *acmeFlags, log *slog.Logger, open bool) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log, open: open}
	if len(authority.domains) > 0 {
		manager, err := authority.manager()
		c.obtained = &obtained{manager: manager, domains: authority.domains, log: log}
		return c, err
	}
	if c.certFile == "" {
		return nil, nil
	}
	if err := c.load(true); err != nil {
		return nil, err
	}
	c.warn(time.Now())
	return c, nil
}

// load reads the files if they have changed.
func (c *certificate) load(asked bool) error {
	if !c.files.Due(reload.StampOf(c.certFile)+reload.StampOf(c.keyFile), asked) {
		return nil
	}
	pair, err := descriptors.OpenWithReserve(func() (tls.Certificate, error) {
		if err := cli.CheckPrivate(c.keyFile); err != nil && !c.open {
			return tls.Certificate{}, err
		}
		return tls.LoadX509KeyPair(c.certFile, c.keyFile)
	})
	if err != nil {
		return fmt.Errorf("--tls-cert %s, --tls-key %s: %w", c.certFile, c.keyFile, err)
	}
	c.current.Store(&pair)
	c.warned = time.Time{}
	return nil
}

// config returns the TLS configuration, or nil for plain HTTP.
func (c *certificate) config() *tls.Config {
	if c == nil {
		return nil
	}
	config := &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current.Load(), nil },
		MinVersion:     tls.VersionTLS12, CipherSuites: authenticated(), NextProtos: []string{"http/1.1"},
	}
	if c.obtained != nil {
		config.GetCertificate = c.obtained.get
		config.NextProtos = append(config.NextProtos, acme.ALPNProto)
	}
	return config
}

// authenticated returns the TLS 1.2 cipher suites with authenticated encryption and forward secrecy. Go's defaults also
// include CBC suites.
func authenticated() (list []uint16) {
	for _, suite := range tls.CipherSuites() {
		if strings.Contains(suite.Name, "_ECDHE_") && (strings.Contains(suite.Name, "_GCM_") || strings.Contains(suite.Name, "_CHACHA20_")) {
			list = append(list, suite.ID)
		}
	}
	return list
}

// reload reads the files if they have changed. If they are invalid, for example because only one has been replaced, the
// current certificate remains in use.
func (c *certificate) reload(asked bool) {
	if c.obtained != nil {
		c.current.Store(c.obtained.first())
		c.warn(time.Now())
		return
	}
	before := c.current.Load()
	if err := c.load(asked); err != nil {
		c.log.Error("the certificate cannot be reloaded; the previous certificate stays in use", "cause", err)
	} else if now := c.current.Load(); now != before {
		c.log.Info("the certificate was reloaded", "until", now.Leaf.NotAfter)
	}
	c.warn(time.Now())
}

// warn logs once a day that the certificate has expired or is about to expire.
func (c *certificate) warn(now time.Time) {
	current := c.current.Load()
	if current == nil || now.Sub(c.warned) < 24*time.Hour {
		return
	}
	before, name, end := warnBefore, slog.String("file", c.certFile), current.Leaf.NotAfter
	if c.obtained != nil { // the ACME manager renews a certificate after two thirds of its lifetime
		before = min(before, end.Sub(current.Leaf.NotBefore)/6)
		name = slog.Any("domains", current.Leaf.DNSNames)
	}
	switch {
	case now.After(end):
		c.log.Error("the certificate has expired: clients refuse it", name, "since", end)
	case now.Add(before).After(end):
		c.log.Warn("the certificate expires soon", name, "at", end)
	default:
		return
	}
	c.warned = now
}
