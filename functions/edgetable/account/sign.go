package account

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/core/sharedkey"
	"edgetable/functions/edgetable/cli"
)

func (p *program) signCommand() *cobra.Command {
	var file, name string
	var asJSON bool
	c := &cobra.Command{
		Use: "sign METHOD URL", Short: "Print a signed curl command for a request",
		Long: "The signature is valid for 15 minutes. It covers the date, the account and the path, so you may add\n" +
			"headers and a body to the command.",
		Example: "  edgetable sign GET 'http://127.0.0.1:10002/devstoreaccount1/Tables'",
		RunE:    func(_ *cobra.Command, args []string) error { return p.sign(file, name, args[0], args[1], asJSON) },
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		cli.AccountsFlag(f, &file)
		cli.AccountFlag(f, &name, "; default the account in the URL")
		cli.JSONFlag(f, &asJSON)
	})
	return c
}

// sign prints a curl command that sends a signed request, which is the quickest way to see a raw response.
func (p *program) sign(file, name, verb, target string, asJSON bool) error {
	method := strings.ToUpper(verb)
	switch method {
	case "GET", "HEAD", "OPTIONS", "POST", "PUT", "MERGE", "PATCH", "DELETE":
	default:
		return cli.Misuse("%q is not a method of the protocol; use GET, POST, PUT, MERGE, PATCH or DELETE", verb)
	}
	if !strings.Contains(target, "://") {
		return cli.Misuse("%q is not a URL such as http://127.0.0.1:10002/devstoreaccount1/Tables", target)
	}
	u, err := url.Parse(escape(target))
	if err != nil {
		return cli.Misuse("%v", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return cli.Misuse("%q is not a URL such as http://127.0.0.1:10002/devstoreaccount1/Tables", target)
	}
	if name == "" {
		name = Named(u)
	}
	account, err := Find(p.Environment, file, name)
	if err != nil {
		return err
	}
	now := time.Now()
	if asJSON {
		headers := map[string]string{}
		for _, h := range signed(account, method, target, now) {
			name, value, _ := strings.Cut(h, ": ")
			headers[name] = value
		}
		return p.PrintJSON(struct {
			Method  string            `json:"method"`
			URL     string            `json:"url"`
			Headers map[string]string `json:"headers"`
			Curl    string            `json:"curl"`
		}{method, escape(target), headers, Curl(account, method, target, now)})
	}
	fmt.Fprintln(p.Out, Curl(account, method, target, now))
	if hasBody(method) {
		fmt.Fprintln(p.Err, "replace {} with the body, which is not signed")
	}
	return nil
}

// Named returns the name of the account in a URL. Like the server, it takes the name from a host of the form
// account.table.example.com. For other hosts, it takes the name from the path.
func Named(u *url.URL) string {
	label, rest, _ := strings.Cut(strings.ToLower(u.Hostname()), ".")
	if !strings.HasPrefix(rest, "table.") {
		label, _, _ = strings.Cut(strings.TrimLeft(u.Path, "/"), "/")
	}
	return strings.TrimSuffix(label, "-secondary")
}

// Curl returns a POSIX shell command that sends the signed request.
func Curl(account *sharedkey.Account, method, target string, now time.Time) string {
	path, _ := pathOf(escape(target))
	words := []string{"curl"}
	switch method {
	case "GET":
	case "HEAD":
		words = append(words, "--head") // with -X HEAD, curl would wait for a body
	default:
		words = append(words, "-X", method)
	}
	if strings.Contains(path, "/.") {
		words = append(words, "--path-as-is")
	}
	for _, h := range signed(account, method, target, now) {
		words = append(words, "-H", cli.Quote(h))
	}
	words = append(words, cli.Quote(escape(target)))
	if hasBody(method) {
		words = append(words, "-d", "'{}'")
	}
	return strings.Join(words, " ")
}

func signed(account *sharedkey.Account, method, target string, now time.Time) []string {
	path, query := pathOf(escape(target))
	date := sharedkey.FormatDate(now)
	authorization := account.Keys[0].Authorization(sharedkey.SharedKeyLite, account.Name,
		sharedkey.Request{Method: method, Path: path, RawQuery: query, XMSDate: date})
	headers := []string{"x-ms-date: " + date, "x-ms-version: 2019-02-02", "Accept: application/json", "Authorization: " + authorization}
	if hasBody(method) {
		headers = append(headers, "Content-Type: application/json")
	}
	return headers
}

// pathOf returns the escaped path and query of a URL.
func pathOf(target string) (path, query string) {
	_, path, _ = strings.Cut(target, "://")
	path, query, _ = strings.Cut(path, "?")
	i := strings.IndexByte(path, '/')
	if i < 0 {
		return "/", query // if a URL has no path, curl requests the path /
	}
	return path[i:], query
}

func hasBody(method string) bool {
	return method == "POST" || method == "PUT" || method == "MERGE" || method == "PATCH"
}

// escape percent-encodes the characters of a URL that are not allowed, that a shell or curl would interpret, or that
// are never sent (#). The signature covers the escaped URL.
func escape(target string) string {
	const allowed = "-._~:/?@!$&()*+,;=%" // this excludes ', which a shell interprets, and brackets, which curl interprets
	_, rest, _ := strings.Cut(target, "://")
	start := len(target) - len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		start += i
	} else {
		return target
	}
	var b strings.Builder
	b.WriteString(target[:start])
	for _, c := range []byte(target[start:]) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(allowed, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
