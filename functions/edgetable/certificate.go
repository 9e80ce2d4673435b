package main

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

// soon is how long before its end a certificate is warned of.
const soon = 14 * 24 * time.Hour

// certificate is the one that the server shows. It is read again when its files
// change.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	current atomic.Pointer[tls.Certificate]
	files   changes
	warned  time.Time
}

// loadCertificate reads the certificate; nil if there is none.
func loadCertificate(certFile, keyFile string, log *slog.Logger) (*certificate, error) {
	if certFile == "" {
		return nil, nil
	}
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log}
	if err := c.load(true); err != nil {
		return nil, err
	}
	c.warn(time.Now())
	return c, nil
}

// load reads the files if they have changed.
func (c *certificate) load(asked bool) error {
	if !c.files.due(stampOf(c.certFile)+stampOf(c.keyFile), asked) {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("--tls-cert %s, --tls-key %s: %w", c.certFile, c.keyFile, err)
	}
	c.current.Store(&pair)
	c.warned = time.Time{}
	return nil
}

// config is that of the server's connections.
func (c *certificate) config() *tls.Config {
	if c == nil {
		return nil
	}
	return &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current.Load(), nil },
		MinVersion:     tls.VersionTLS12, NextProtos: []string{"http/1.1"},
	}
}

// reload takes files that have changed. While they are wrong, as between two
// writes, the certificate stays.
func (c *certificate) reload(asked bool) {
	before := c.current.Load()
	if err := c.load(asked); err != nil {
		c.log.Error("the certificate stays as it was", "cause", err)
	} else if now := c.current.Load(); now != before {
		c.log.Info("the certificate was read again", "until", now.Leaf.NotAfter)
	}
	c.warn(time.Now())
}

// warn says once a day that the certificate has expired, or is about to.
func (c *certificate) warn(now time.Time) {
	if now.Sub(c.warned) < 24*time.Hour {
		return
	}
	end := c.current.Load().Leaf.NotAfter
	switch {
	case now.After(end):
		c.log.Error("the certificate has expired: clients refuse it", "file", c.certFile, "since", end)
	case now.Add(soon).After(end):
		c.log.Warn("the certificate expires soon", "file", c.certFile, "at", end)
	default:
		return
	}
	c.warned = now
}
