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

// servesPage reports whether the server serves the page of the explorer. Without --explorer, the server serves
// the page only if no other machine can reach it. So the server must listen on a loopback address, and must not
// be behind a proxy.
func (s *serving) servesPage() bool {
	if s.explorer.given {
		return s.explorer.on
	}
	return cli.Loopback(s.listener.Addr()) && !s.trustProxy && s.publicURL == ""
}

// ownHandler returns the handler of paths that belong to no account: health checks and the explorer.
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

// hasDevelopment reports whether the server has the development account with its public key.
func (s *serving) hasDevelopment() bool {
	a, ok := (*s.accounts.Current.Load())[accounts.Development]
	return ok && slices.ContainsFunc(a.Keys[:], accounts.IsDevelopmentKey)
}

// signable returns the sorted names of the accounts that the explorer can open.
func (s *serving) signable() []string {
	list := *s.accounts.Current.Load()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(list)), func(name string) bool { return s.key(name) == nil })
}

// sign signs text with the key of an account. ok is false if the account has no usable key.
func (s *serving) sign(account, text string) (signature string, ok bool) {
	key := s.key(account)
	if key == nil {
		return "", false
	}
	return key.Sign(text), true
}

// key returns the first key of an account, or nil if the account is disabled or missing.
func (s *serving) key(account string) *sharedkey.Key {
	a, ok := (*s.accounts.Current.Load())[account]
	if !ok || a.Disabled {
		return nil
	}
	return a.Keys[0]
}

// invite returns a one-time link that opens all accounts in the explorer of this server.
func (s *serving) invite() (*admin.Link, error) {
	if s.consent == nil {
		return nil, errors.New("this server does not serve the explorer's page; 'edgetable serve --explorer' does")
	}
	path, good := s.consent.Invite()
	return &admin.Link{URL: s.url() + path, Good: good}, nil
}

// page returns the path of the explorer, to which a browser is redirected from /. It returns "" if there is no
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
