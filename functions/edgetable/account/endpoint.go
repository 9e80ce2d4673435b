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

// askServer returns the state of the running server that uses the file of accounts, or nil if no such server runs. An
// error means that a server runs but does not respond, so its state is unknown.
func (o *accountFlags) askServer(ctx context.Context, path string) (*admin.Info, error) {
	info, err := admin.Ask(ctx, o.data, o.admin)
	if info == nil || err != nil || !o.usesFile(info, path) {
		return nil, err
	}
	return info, nil
}

// usesFile reports whether a server reads its accounts from the file at path. An empty path stands for a server without
// a file of accounts. For such a server, usesFile also accepts the file of accounts in the data directory, because the
// server's next start reads this file.
func (o *accountFlags) usesFile(info *admin.Info, path string) bool {
	if info.File == "" {
		return path == "" || path == filepath.Join(o.data, cli.AccountsInData)
	}
	return sameFile(info.File, path)
}

// sameFile reports whether two paths name the same file. If a file cannot be read and a path is relative, only the
// base names are compared, because the server's path may be relative to the server's working directory.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, fails := os.Stat(b)
	if err == nil && fails == nil {
		return os.SameFile(one, other)
	}
	return !filepath.IsAbs(a) && filepath.Base(a) == filepath.Base(b)
}

// endpointOf returns the URL of an account from the first of these sources that has one: --endpoint, the account's
// entry, the running server, and the settings of a server in the environment or the configuration file. If no source
// has a URL, endpointOf prints why and returns "".
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
		fmt.Fprintf(p.Err, "The endpoint is unknown: %v. In the output, replace %[3]s with the URL of the server and /%[2]s, or run this command with --endpoint\n", err, name, unknownEndpoint)
		return ""
	}
	return begin + "/" + name
}

// unknownEndpoint replaces an unknown URL in connection strings and other output. Every client refuses this text.
const unknownEndpoint = "URL-OF-THE-ACCOUNT"

// defaultEndpoint is a text in the help. It says which endpoint the commands use if --endpoint is not given.
const defaultEndpoint = "default from the running server of these accounts; without a running server, from the settings listen, public-url and tls-cert in the environment or in the file of --config"

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
