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

// askServer returns the state of the running server that uses the accounts file at path, or nil if there is none. It
// returns an error if a server is running but does not respond.
func (o *accountFlags) askServer(ctx context.Context, path string) (*admin.Info, error) {
	info, err := admin.Ask(ctx, o.data, o.admin)
	if info == nil || err != nil || !o.usesFile(info, path) {
		return nil, err
	}
	return info, nil
}

// usesFile reports whether a server uses the accounts file at path, where "" means no file. If the server has no
// accounts file, usesFile returns true for "" and for the path at which the server looks for the file when it starts.
func (o *accountFlags) usesFile(info *admin.Info, path string) bool {
	if info.File == "" {
		return path == "" || path == filepath.Join(o.data, cli.AccountsInData)
	}
	return sameFile(info.File, path)
}

// sameFile reports whether a and b are the same file. If a is a relative path and one of the files is not accessible,
// sameFile compares only the base names, because the server may have another working directory.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, fails := os.Stat(b)
	if err == nil && fails == nil {
		return os.SameFile(one, other)
	}
	return !filepath.IsAbs(a) && filepath.Base(a) == filepath.Base(b)
}

// endpointOf returns the URL of an account. It takes the URL from the first of these that has one: --endpoint, the
// entry of the account, the running server, the server settings. If none has one, it prints the reason and returns "".
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

// unknownEndpoint is the placeholder for an unknown URL in the output. All clients reject it.
const unknownEndpoint = "URL-OF-THE-ACCOUNT"

const defaultEndpoint = "default from the running server of these accounts; without a running server, from the settings listen, public-url and tls-cert in the environment or in the file of --config"

type accountFlags struct {
	accounts, data string
	admin          string
	endpoint       string
	known          string // URL in the account's entry of the accounts file
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
