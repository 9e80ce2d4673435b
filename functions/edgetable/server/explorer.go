package server

import (
	"errors"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"edgetable/core/accounts"
	"edgetable/core/protocol"
	"edgetable/core/sharedkey"
	"edgetable/functions/edgetable/admin"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/explorer"
)

// servesPage reports whether the server serves the explorer. By default it does so only if other machines cannot reach
// it: on a loopback address, and not behind a proxy.
func (s *serving) servesPage() bool {
	if s.explorer.given {
		return s.explorer.on
	}
	return cli.Loopback(s.listener.Addr()) && !s.trustProxy && s.publicURL == ""
}

// ownHandler returns the handler for paths that belong to no account. These are the health checks and the explorer.
func (s *serving) ownHandler(h *health) func(*protocol.Request) protocol.Response {
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

// hasDevelopment reports whether the development account exists with its public key.
func (s *serving) hasDevelopment() bool {
	a, ok := (*s.accounts.Current.Load())[accounts.Development]
	return ok && slices.ContainsFunc(a.Keys[:], accounts.IsDevelopmentKey)
}

// signable returns the names of the accounts that the explorer can open, in sorted order.
func (s *serving) signable() []string {
	list := *s.accounts.Current.Load()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(list)), func(name string) bool { return s.key(name) == nil })
}

// sign signs a text with the key of an account. The second result is false if the account is missing or disabled.
func (s *serving) sign(account, text string) (signature string, ok bool) {
	key := s.key(account)
	if key == nil {
		return "", false
	}
	return key.Sign(text), true
}

// key returns the first key of an account, or nil if the account is missing or disabled.
func (s *serving) key(account string) *sharedkey.Key {
	a, ok := (*s.accounts.Current.Load())[account]
	if !ok || a.Disabled {
		return nil
	}
	return a.Keys[0]
}

// invite returns a one-time link that opens all accounts in the explorer.
func (s *serving) invite() (*admin.Link, error) {
	if s.consent == nil {
		return nil, errors.New("this server does not serve the explorer's page; 'edgetable serve --explorer' does")
	}
	path, good := s.consent.Invite()
	return &admin.Link{URL: s.url() + path, Good: good}, nil
}

// page returns the path to which the server redirects browsers from the path /. It returns "" if the server has no
// explorer.
func (s *serving) page() string {
	if s.servesPage() {
		return explorer.Prefix
	}
	return ""
}

// explorerHosts returns the host names of the server that its flags contain.
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
