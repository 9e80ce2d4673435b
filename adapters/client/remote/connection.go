package remote

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"edgetable/core/accounts"
	"edgetable/core/edm"
	"edgetable/core/sas"
	"edgetable/core/sharedkey"
)

// Development is the connection string of a server on this machine with the development account.
const Development = "UseDevelopmentStorage=true"

// Endpoint is an account of a table service with its credentials. String omits the credentials.
type Endpoint struct {
	url     *url.URL // URL of the account, without a trailing slash
	account string
	key     *sharedkey.Key
	token   string // a shared access signature, instead of the key
}

// Owned returns the endpoint of an account at the given URL, with the account's key as credentials.
func Owned(address string, a *sharedkey.Account) (Endpoint, error) {
	u, err := url.Parse(strings.TrimRight(address, "/"))
	if err != nil {
		return Endpoint{}, err
	}
	return Endpoint{url: u, account: a.Name, key: a.Keys[0]}, nil
}

// String returns the URL of the account.
func (e Endpoint) String() string { return e.url.String() }

// GoString omits the credentials, so that %#v does not print them.
func (e Endpoint) GoString() string { return e.String() }

// OfKeys reports whether the credentials are a shared access signature for a range of keys. Entities outside the range
// then appear not to exist.
func (e Endpoint) OfKeys() bool {
	values, _ := url.ParseQuery(e.token) // the error is nil, because the token was parsed before
	return slices.ContainsFunc([]string{"spk", "srk", "epk", "erk"}, values.Has)
}

// ParseConnection parses a connection string of the Azure SDKs, or the URL of a shared access signature. Its errors
// never contain the text or the key.
func ParseConnection(text string) (Endpoint, error) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://") {
		return parseURL(text)
	}
	fields := map[string]string{}
	for part := range strings.SplitSeq(text, ";") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			return Endpoint{}, errors.New("a connection string consists of Name=value parts with semicolons between")
		}
		fields[strings.ToLower(name)] = value
	}
	if strings.EqualFold(fields["usedevelopmentstorage"], "true") {
		proxy := cmp.Or(strings.TrimSuffix(fields["developmentstorageproxyuri"], "/"), "http://127.0.0.1")
		return withKey(proxy+":10002/"+accounts.Development, accounts.Development, accounts.DevelopmentKey)
	}
	account, endpoint := fields["accountname"], fields["tableendpoint"]
	if endpoint == "" {
		if account == "" {
			return Endpoint{}, errors.New("the connection string names neither AccountName nor TableEndpoint")
		}
		scheme := cmp.Or(fields["defaultendpointsprotocol"], "https")
		suffix := cmp.Or(fields["endpointsuffix"], "core.windows.net")
		endpoint = scheme + "://" + account + ".table." + suffix
	}
	if token := fields["sharedaccesssignature"]; token != "" {
		return parseURL(strings.TrimRight(endpoint, "/") + "/?" + strings.TrimPrefix(token, "?"))
	}
	switch {
	case fields["accountkey"] == "":
		return Endpoint{}, errors.New("the connection string has neither AccountKey nor SharedAccessSignature")
	case account == "":
		return Endpoint{}, errors.New("the connection string has no AccountName")
	}
	return withKey(endpoint, account, fields["accountkey"])
}

func withKey(endpoint, account, key string) (Endpoint, error) {
	u, err := address(endpoint)
	if err != nil {
		return Endpoint{}, err
	}
	k, err := sharedkey.ParseKey(key)
	if err != nil {
		return Endpoint{}, errors.New("the account key is not base64 text")
	}
	return Endpoint{url: u, account: account, key: k}, nil
}

// parseURL parses a URL with a shared access signature. SDKs append the name of the table to the path of the URL.
func parseURL(text string) (Endpoint, error) {
	text, token, _ := strings.Cut(text, "?")
	values, err := url.ParseQuery(token)
	if err != nil {
		return Endpoint{}, errors.New("the query of the URL cannot be read")
	}
	if values.Get("sig") == "" {
		u, err := address(text)
		if err == nil && strings.TrimPrefix(u.Path, "/") == accounts.Development {
			return withKey(text, accounts.Development, accounts.DevelopmentKey)
		}
		return Endpoint{}, errors.New("the URL has no shared access signature (sig=…): write a connection string or add one")
	}
	text = strings.TrimRight(text, "/")
	if table := values.Get("tn"); table != "" {
		if head, ok := strings.CutSuffix(strings.ToLower(text), "/"+strings.ToLower(table)); ok {
			text = text[:len(head)]
		}
	}
	u, err := address(text)
	return Endpoint{url: u, token: token}, err
}

func address(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(text, "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" {
		return nil, fmt.Errorf("the endpoint is not a URL of the form https://host[:port][/account]")
	}
	return u, nil
}

// advice returns what the user can do about a missing table or rejected credentials. For other errors it returns "".
func (e *Endpoint) advice(refusal *Error, as string, now time.Time) string {
	switch {
	case refusal.Code == "TableNotFound" && as != "":
		return "'edgetable tables list --from " + as + "' lists the existing tables"
	case refusal.Code == "TableNotFound":
		return "'edgetable tables list' lists the existing tables"
	case refusal.Status != http.StatusForbidden:
		return ""
	}
	values, _ := url.ParseQuery(e.token) // the error is nil, because the token was parsed before
	end := values.Get("se")
	expiry, err := sas.ParseTime(end)
	switch {
	case err == nil && expiry < edm.TicksOf(now):
		return "the shared access signature expired at " + end + ": run the command again with a new one"
	case refusal.Code != "AuthenticationFailed":
		return ""
	case e.token != "":
		return "the shared access signature is wrong or has been revoked: run the command again with a new one"
	}
	return "the account name or key is wrong, or the key has been replaced: run the command again with the current one"
}
