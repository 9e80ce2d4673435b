package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"edgetable/functions/edgetable/cli"
)

// acmeFlags are the flags for certificates that the server obtains for its domains. The default certificate authority
// is Let's Encrypt.
type acmeFlags struct {
	domains              []string
	directory, ca, cache string
}

// Environment variables: the URL of another certificate authority, the file with its root certificate, and the
// directory for certificates.
const (
	acmeDirectory = "EDGETABLE_ACME_DIRECTORY"
	acmeCA        = "EDGETABLE_ACME_CA"
	acmeCache     = "EDGETABLE_ACME_CACHE"
)

func (o *acmeFlags) register(f *pflag.FlagSet, environment func(name string) string) {
	f.StringSliceVar(&o.domains, "acme-domain", nil, "`domains` to obtain certificates for; you accept the terms of the certificate authority, which connects to port 443 of each")
	if environment != nil { // the environment is nil if the caller needs only the list of flags
		o.directory, o.ca, o.cache = cmp.Or(environment(acmeDirectory), autocert.DefaultACMEDirectory), environment(acmeCA), environment(acmeCache)
	}
}

// check returns an error if flags contradict each other. The parameter data is the data directory, or "" if the server
// has none.
func (o *acmeFlags) check(data, tlsCert string) error {
	if len(o.domains) == 0 {
		return nil
	}
	for i, domain := range o.domains {
		domain = strings.ToLower(domain)
		if u, err := url.Parse("https://" + domain); err != nil || u.Host != domain || u.Port() != "" || !strings.Contains(strings.Trim(domain, "."), ".") || strings.Contains(domain, "*") {
			return cli.Misuse("--acme-domain must be a name such as tables.example.com, without * or port, not %q", domain)
		}
		o.domains[i] = domain
	}
	if u, err := url.Parse(o.directory); err != nil || u.Scheme != "https" || u.Host == "" {
		return cli.Misuse("$%s must be a URL that begins with https://, not %q", acmeDirectory, o.directory)
	}
	if tlsCert != "" {
		return cli.Misuse("--acme-domain and --tls-cert exclude each other")
	}
	if o.cache == "" {
		if data == "" {
			return cli.Misuse("name the directory for certificates with $%s: a certificate authority issues only a few per week", acmeCache)
		}
		o.cache = filepath.Join(data, "acme")
	}
	return nil
}

func (o *acmeFlags) manager() (*autocert.Manager, error) {
	client := &acme.Client{DirectoryURL: o.directory, UserAgent: "edgetable"}
	if o.ca != "" {
		text, err := os.ReadFile(o.ca)
		if err != nil {
			return nil, fmt.Errorf("$%s: %w", acmeCA, err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("$%s: %s has no certificate in PEM", acmeCA, o.ca)
		}
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.TLSClientConfig = &tls.Config{RootCAs: roots}
		client.HTTPClient = &http.Client{Transport: transport}
	}
	return &autocert.Manager{
		Prompt: autocert.AcceptTOS, Client: client,
		Cache: autocert.DirCache(o.cache), HostPolicy: autocert.HostWhitelist(o.domains...),
	}, nil
}

// obtained holds certificates from a certificate authority, which the ACME manager renews. To stay within the rate
// limits, missing certificates are requested only by the method obtain.
type obtained struct {
	manager *autocert.Manager
	domains []string
	log     *slog.Logger

	have sync.Map // the domains that have a certificate
}

// acmeRetry is the initial backoff after a failed request for a certificate. Let's Encrypt permits five failures an
// hour.
const acmeRetry = 2 * time.Minute

// obtain requests the certificates in the background, and retries until ctx is done. The server must be listening,
// because the authority connects to it.
func (o *obtained) obtain(ctx context.Context) {
	for _, domain := range o.domains {
		go func() {
			for wait := acmeRetry; ; wait = min(3*wait, time.Hour) {
				c, err := o.load(domain)
				if err == nil {
					o.have.Store(domain, nil)
					o.log.Info("a certificate was obtained", "domain", domain, "until", c.Leaf.NotAfter)
					return
				}
				o.log.Error("there is no certificate yet: clients cannot connect", "domain", domain, "cause", err, "retry", wait)
				if cli.Sleep(ctx, wait) != nil {
					return
				}
			}
		}()
	}
}

// load returns the certificate of a domain, and requests it if it is missing. The certificate has an ECDSA key, which
// all clients with TLS 1.2 support.
func (o *obtained) load(domain string) (*tls.Certificate, error) {
	return o.manager.GetCertificate(&tls.ClientHelloInfo{ServerName: domain, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}})
}

// get implements tls.Config.GetCertificate. Clients without SNI receive the certificate of the first domain.
func (o *obtained) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto}) {
		return o.manager.GetCertificate(hello)
	}
	domain := strings.TrimSuffix(strings.ToLower(hello.ServerName), ".")
	if domain == "" {
		domain = o.domains[0]
	}
	if _, ok := o.have.Load(domain); !ok {
		return nil, errNoCertificate
	}
	return o.load(domain)
}

var errNoCertificate = errors.New("no certificate for this name")

// first returns the certificate that expires first, or nil if there is none.
func (o *obtained) first() (first *tls.Certificate) {
	o.have.Range(func(domain, _ any) bool {
		if c, err := o.load(domain.(string)); err == nil && (first == nil || c.Leaf.NotAfter.Before(first.Leaf.NotAfter)) {
			first = c
		}
		return true
	})
	return first
}
