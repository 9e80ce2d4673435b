// Package wire is a deliberately small HTTP/1.1 client for measuring table servers.
//
// A load generator that shares two cores with the server it measures must cost next to nothing: one TCP (or TLS)
// connection per worker kept alive, one Write per request from a reused buffer, a response parser that looks at the
// few headers it needs, and a SharedKeyLite signature with the date cached per second. It is no general client: no
// redirects, no trailers, no pipelining, no retries, because a benchmark must see every failure.
package wire

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"edgetable/core/accounts"
	"edgetable/core/sharedkey"
)

// Version is the x-ms-version of requests unless the target has another: the one that the service's own clients for
// tables send.
const Version = "2019-02-02"

// Target says where a server is and who asks. Make one with NewTarget.
type Target struct {
	Addr    string // host:port to dial
	Host    string // Host header
	TLS     bool
	Base    string // path prefix in front of every resource: "/devstoreaccount1" in path style, "" in host style
	URL     string // scheme, host and Base, without a final slash
	Account string
	Version string // x-ms-version
	From    string // address of this machine to connect from; "" is any
	key     *sharedkey.Key
	token   string // a shared access signature, in place of the key
}

// NewTarget reads an endpoint as connection strings spell it: http(s)://host[:port][/account]. The account signs with its
// first key.
func NewTarget(endpoint string, account *sharedkey.Account) (Target, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return Target{}, fmt.Errorf("endpoint %q is not of the form http(s)://host[:port][/account]", endpoint)
	}
	if u.RawQuery != "" || u.User != nil {
		return Target{}, fmt.Errorf("endpoint of %s must have no query and no user", u.Host)
	}
	t := Target{Addr: u.Host, Host: u.Host, TLS: u.Scheme == "https", Account: account.Name, Version: Version, key: account.Keys[0]}
	t.Base = strings.TrimRight(u.EscapedPath(), "/")
	t.URL = u.Scheme + "://" + u.Host + t.Base
	if u.Port() == "" {
		port := "80"
		if t.TLS {
			port = "443"
		}
		t.Addr = net.JoinHostPort(u.Hostname(), port)
	}
	return t, nil
}

// Development returns an account with the public key of the development account, for servers of a test.
func Development(name string) *sharedkey.Account {
	key, err := sharedkey.ParseKey(accounts.DevelopmentKey)
	if err != nil {
		panic(err) // it is a constant
	}
	return &sharedkey.Account{Name: name, Keys: [2]*sharedkey.Key{key}}
}

// WithToken is the target with a shared access signature, a query as [edgetable/core/sas] signs it, in place of the key.
func (t Target) WithToken(token string) Target {
	t.token = token
	return t
}
