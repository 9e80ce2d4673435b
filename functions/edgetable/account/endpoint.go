package account

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"edgetable/functions/edgetable/admin"
	"edgetable/functions/edgetable/cli"
)

// running asks the server that uses the file of accounts for its state. It returns nil if no server runs. An error
// means that a server runs but does not respond, so its state is unknown.
func (o *accountFlags) askServer(ctx context.Context, path string) (*admin.Info, error) {
	info, err := admin.Ask(ctx, o.data, o.admin)
	if info == nil || err != nil || !o.usesFile(info, path) {
		return nil, err
	}
	return info, nil
}

// uses reports whether the accounts of a server come from the file path; "" means that they come from no file. A
// server without a file looks for one in its data directory at its next start.
func (o *accountFlags) usesFile(info *admin.Info, path string) bool {
	if info.File == "" {
		return path == "" || path == filepath.Join(o.data, cli.AccountsInData)
	}
	return sameFile(info.File, path)
}

// same reports whether two paths name the same file. A server may have a path relative to its own working directory.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, fails := os.Stat(b)
	if err == nil && fails == nil {
		return os.SameFile(one, other)
	}
	return !filepath.IsAbs(a) && filepath.Base(a) == filepath.Base(b)
}

// endpointOf returns the URL of an account. It tries --endpoint, the account's entry, the running server, and the
// settings for a server in the environment or the configuration file, in this order. If none has a URL, it returns ""
// and prints why.
func (p *program) endpointOf(name string, o *accountFlags, info *admin.Info, err error) string {
	begin := ""
	switch {
	case o.endpoint != "":
		return o.endpoint
	case o.known != "":
		return o.known
	case err == nil && info != nil:
		begin = info.URL
	case err == nil:
		setting := func(flag string) string {
			if list := p.Setting(flag); len(list) > 0 {
				return list[0]
			}
			return ""
		}
		a := admin.Address{Public: setting("public-url"), Listen: setting("listen"), TLS: setting("tls-cert") != "", Domains: p.Setting("acme-domain")}
		begin = a.BySettings()
		err = errors.New("no server is running with these accounts, and no setting gives the address of a server")
	}
	if begin == "" {
		fmt.Fprintf(p.Err, "The endpoint is unknown: %v. Replace %[3]s with its URL and /%[2]s, or run this command with --endpoint\n", err, name, unknownEndpoint)
		return ""
	}
	return begin + "/" + name
}

// unknownEndpoint is the placeholder for an unknown URL in connection strings and other URLs. Every client refuses
// it.
const unknownEndpoint = "URL-OF-THE-ACCOUNT"

// defaultEndpoint describes, for the help, what endpointOf does without --endpoint.
const defaultEndpoint = "default from the running server of these accounts, or else from --listen, --public-url and certificates in the environment or the file --config"

// accountFlags are the flags of the commands that change accounts.
type accountFlags struct {
	accounts, data string
	admin          string
	endpoint       string
	known          string // endpoint in the account's entry
	finish, force  bool
	yes            bool
	disable        bool
	enable, drop   bool
	json           bool
}

func (o *accountFlags) path() string {
	if o.accounts != "" {
		return o.accounts
	}
	return filepath.Join(o.data, cli.AccountsInData)
}
