package main

import (
	"errors"
	"flag"
	"fmt"
	"net/url"
	"strings"
	"time"

	"edgetable/core/sharedkey"
)

// sign prints a curl command: the quickest way to look at a raw answer.
func (p *program) sign(args []string) error {
	f := flag.NewFlagSet("sign", flag.ContinueOnError)
	file := f.String("accounts", "", "`file` of accounts; default $"+accountsVariable+", else the development account")
	name := f.String("account", "", "`account` to sign for; default the first label of the path or host that is one")
	f.Usage = func() {
		fmt.Fprintf(f.Output(), "Usage: edgetable sign [flags] METHOD URL\n\nPrints a curl command for the request, signed and good for 15 minutes.\n\n"+
			"  edgetable sign GET 'http://127.0.0.1:10002/devstoreaccount1/Tables'\n\n")
		f.PrintDefaults()
	}
	if err := p.parse(f, args, 2); err != nil {
		return err
	}
	list, err := p.loadAccounts(*file)
	if err != nil {
		return err
	}
	u, err := url.Parse(f.Arg(1))
	if err != nil || u.Host == "" {
		return fmt.Errorf("%q is not a URL such as http://127.0.0.1:10002/devstoreaccount1/Tables", f.Arg(1))
	}
	if *name == "" {
		segment, _, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
		label, _, _ := strings.Cut(u.Host, ".")
		for _, candidate := range []string{segment, label} {
			candidate = strings.TrimSuffix(candidate, "-secondary")
			if _, ok := list[candidate]; ok {
				*name = candidate
			}
		}
	}
	account, ok := list[*name]
	if !ok {
		return errors.New("the URL names no account that is known here; say which with -account")
	}
	fmt.Fprintln(p.out, curl(account, strings.ToUpper(f.Arg(0)), f.Arg(1), time.Now()))
	return nil
}

// curl is a command line for the request with its signature.
func curl(account *sharedkey.Account, method, target string, now time.Time) string {
	_, rest, _ := strings.Cut(target, "://")
	path := "/"
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		path = rest[i:]
	}
	path, query, _ := strings.Cut(path, "?")
	date := sharedkey.FormatDate(now)
	authorization := account.Keys[0].Authorization(sharedkey.SharedKeyLite, account.Name,
		sharedkey.Request{Method: method, Path: path, RawQuery: query, XMSDate: date})
	return fmt.Sprintf("curl -X %s -H 'x-ms-date: %s' -H 'x-ms-version: 2019-02-02' -H 'Accept: application/json' -H 'Authorization: %s' '%s'",
		method, date, authorization, strings.ReplaceAll(target, "'", "%27"))
}
