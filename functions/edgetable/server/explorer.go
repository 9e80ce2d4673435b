package server

import (
	"errors"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"edgetable/core/accounts"
	"edgetable/core/protocol"
	"edgetable/core/sharedkey"
	"edgetable/functions/edgetable/admin"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/explorer"
)

// explorerFlag says whether a server has the explorer's page.
type explorerFlag struct{ on, given bool }

func (e *explorerFlag) register(f *pflag.FlagSet) {
	cli.BoolFlag(f, &e.on, "explorer", "serve the explorer's page at /_/; default only if no other machine can reach it; =false turns it off")
}

// servesPage reports whether the page is served. A proxy may let anybody reach it.
func (s *serving) servesPage() bool {
	if s.explorer.given {
		return s.explorer.on
	}
	return cli.Loopback(s.listener.Addr()) && !s.trustProxy && s.publicURL == ""
}

// own answers requests for paths that no account has.
func (s *serving) own(h *health) func(*protocol.Request) protocol.Response {
	if !s.servesPage() {
		return h.answer
	}
	if s.hasSocket() {
		s.consent = explorer.NewConsent(s.signable, s.sign, time.Now, s.log)
	}
	page := explorer.Endpoint{
		Hosts: explorerHosts(s.serveFlags), Version: cli.Version(), Development: s.hasDevelopment, Consent: s.consent,
	}
	return func(req *protocol.Request) protocol.Response {
		if strings.HasPrefix(req.Target, "/_/live") || strings.HasPrefix(req.Target, "/_/ready") {
			return h.answer(req)
		}
		return page.Serve(req)
	}
}

// hasDevelopment reports whether anybody knows the key of the development account.
func (s *serving) hasDevelopment() bool {
	a, ok := (*s.accounts.Current.Load())[accounts.Development]
	return ok && slices.ContainsFunc(a.Keys[:], accounts.IsDevelopmentKey)
}

// signable are the accounts that the explorer can open, by name.
func (s *serving) signable() []string {
	list := *s.accounts.Current.Load()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(list)), func(name string) bool { return s.key(name) == nil })
}

// sign signs a text with the key of an account.
func (s *serving) sign(account, text string) (signature string, ok bool) {
	key := s.key(account)
	if key == nil {
		return "", false
	}
	return key.Sign(text), true
}

// key is the first key of an account, or nil if it is disabled or gone.
func (s *serving) key(account string) *sharedkey.Key {
	a, ok := (*s.accounts.Current.Load())[account]
	if !ok || a.Disabled {
		return nil
	}
	return a.Keys[0]
}

// invite makes a link that opens all accounts in this server's own page.
func (s *serving) invite() (*admin.Link, error) {
	if s.consent == nil {
		return nil, errors.New("this server does not serve the explorer's page; 'edgetable serve --explorer' does")
	}
	path, good := s.consent.Invite()
	return &admin.Link{URL: s.url() + path, Good: good}, nil
}

// page is where a browser that asks for / is sent.
func (s *serving) page() string {
	if s.servesPage() {
		return explorer.Prefix
	}
	return ""
}

// explorerHosts are the names of the server that it knows.
func explorerHosts(o *serveFlags) (names explorer.Hosts) {
	if host, _, err := net.SplitHostPort(o.listen); err == nil && host != "" {
		names = append(names, strings.ToLower(host))
	}
	if u, err := url.Parse(o.publicURL); err == nil && u.Host != "" {
		names = append(names, strings.ToLower(u.Hostname()))
	}
	for _, domain := range o.acme.domains {
		names = append(names, strings.ToLower(domain))
	}
	return names
}
