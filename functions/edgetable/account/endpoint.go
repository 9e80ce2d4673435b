package account

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"edgetable/functions/edgetable/admin"
)

// running asks the server that uses the file of accounts what it knows; nil if none
// answers.
func (o *accountFlags) running(ctx context.Context, path string) *admin.Info {
	socket := admin.Socket(o.data, o.admin)
	if _, err := os.Stat(socket); err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	info, err := admin.Get[*admin.Info](ctx, admin.Reach(o.data, o.admin), "/server")
	if err != nil || info.File != "" && !same(info.File, path) {
		return nil
	}
	return info
}

// same reports whether two paths are one file. A server may have been told a path that
// begins in its own directory.
func same(a, b string) bool {
	one, err := os.Stat(a)
	other, fails := os.Stat(b)
	if err == nil && fails == nil {
		return os.SameFile(one, other)
	}
	return !filepath.IsAbs(a) && filepath.Base(a) == filepath.Base(b)
}

// endpointOf is where an account is: as --endpoint says, else the running server, else
// the settings that the environment or the configuration file has for a server. It is ""
// if none of them tells.
func (p *program) endpointOf(name string, o *accountFlags, info *admin.Info) string {
	if o.endpoint != "" {
		return o.endpoint
	}
	begin := ""
	if info != nil {
		begin = info.URL
	} else {
		setting := func(flag string) string {
			if list := p.Setting(flag); len(list) > 0 {
				return list[0]
			}
			return ""
		}
		a := admin.Address{Public: setting("public-url"), Listen: setting("listen"), TLS: setting("tls-cert") != "", Domains: p.Setting("acme-domain")}
		begin = a.BySettings()
	}
	if begin == "" {
		return ""
	}
	return begin + "/" + name
}
