package account

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/setting"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/sas"
	"edgetable/core/sharedkey"
	"edgetable/core/table"
	"edgetable/functions/edgetable/cli"
)

type sasFlags struct {
	accountFlags
	account             string
	table, policy       string
	permissions         string
	resources           string
	start, expires      string
	fromPartition       string
	fromRow             string
	toPartition, toRow  string
	ip, version         string
	httpsOnly, onlyText bool
}

// These maps contain the letters of SAS permissions and resource types, by the words that users may write instead.
var (
	permissionWords = map[string]string{
		"read": "r", "query": "r", "add": "a", "insert": "a", "update": "u", "delete": "d",
		"write": "w", "list": "l", "create": "c", "upsert": "au", "all": "",
	}
	resourceWords = map[string]string{"service": "s", "table": "c", "tables": "c", "container": "c", "entity": "o", "entities": "o", "object": "o", "all": "sco"}
)

func (p *program) sasCommand() *cobra.Command {
	var o sasFlags
	c := &cobra.Command{
		Use: "sas", Short: "Print a shared access signature (SAS) and its permissions",
		Long: "Everybody who has the URL can do whatever the signature permits, without the account key.",
		Example: "  edgetable sas --table people --permissions read --expires 24h\n" +
			"  edgetable sas --permissions read,list --resources tables,entities --expires 7d",
		RunE: func(c *cobra.Command, _ []string) error { return p.sas(c, &o) },
	}
	cli.Section(c, "Account", func(f *pflag.FlagSet) {
		cli.AccountsFlag(f, &o.accounts)
		cli.AccountFlag(f, &o.account, "; default the only account")
		cli.DataFlag(f, &o.data, "the directory that the server uses; its file named "+cli.AccountsInData+" is used if nothing else names the accounts")
		cli.AdminFlag(f, &o.admin, "")
		cli.EndpointFlag(f, &o.endpoint, defaultEndpoint)
	})
	cli.Section(c, "What it permits", func(f *pflag.FlagSet) {
		cli.TableFlag(f, &o.table, "", "; without it the token is for the account")
		f.StringVar(&o.permissions, "permissions", "", "permissions, as `letters` or as words separated by commas: read, add, update, delete, upsert (add and update) and all; in a token for an account also write, list and create")
		f.StringVar(&o.resources, "resources", "", "resources of a token for an account, as `letters` or as words separated by commas: service, tables, entities and all; default all")
		f.StringVar(&o.policy, "policy", "", "`id` of a stored access policy of the table, which supplies the permissions and times that no flag gives")
	})
	cli.Section(c, "When, where and how", func(f *pflag.FlagSet) {
		f.StringVar(&o.start, "start", "", "start `time` of the token, RFC 3339; default now")
		f.StringVar(&o.expires, "expires", "", "expiry `time` of the token, RFC 3339, or a duration from now, such as 30m, 24h or 7d; default 1h, or the expiry of the policy")
		f.StringVar(&o.ip, "ip", "", "client `address` for which the token is valid, or a range such as 192.0.2.1-192.0.2.9")
		cli.BoolFlag(f, &o.httpsOnly, "https-only", "valid only over https")
		f.StringVar(&o.version, "service-version", "", "protocol `version` for the signature; default "+sas.Version)
	})
	cli.Section(c, "Keys, with --table", func(f *pflag.FlagSet) {
		f.StringVar(&o.fromPartition, "from-partition", "", "first `PartitionKey`; default no bound")
		f.StringVar(&o.fromRow, "from-row", "", "first `RowKey` in the first partition")
		f.StringVar(&o.toPartition, "to-partition", "", "last `PartitionKey`; default no bound")
		f.StringVar(&o.toRow, "to-row", "", "last `RowKey` in the last partition")
	})
	cli.JSONFlag(c.Flags(), &o.json)
	c.Flags().BoolVarP(&o.onlyText, "quiet", "q", false, "print only the token")
	return c
}

func (p *program) sas(c *cobra.Command, o *sasFlags) error {
	ctx := c.Context()
	if o.accounts == "" && c.Flags().Changed("data") {
		if _, err := os.Stat(o.data); err != nil {
			return fmt.Errorf("--data: %w", err)
		}
	}
	source := NewSource(p.Environment, o.accounts, o.data)
	list, file, err := source.read()
	if err != nil {
		return err
	}
	if o.account == "" {
		if len(list) > 1 {
			return cli.Misuse("there are %d accounts: name one of them with --account", len(list))
		}
		for o.account = range list {
		}
	}
	account, err := known(list, o.account)
	if err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	o.known = list[o.account].Endpoint
	token, err := o.sign(account.Keys[0], time.Now())
	if refused, ok := errors.AsType[*table.Error](err); ok { // the error names token parameters, but the user knows the flags
		if _, detail, ok := strings.Cut(refused.Message, "Detail: "); ok {
			return cli.Misuse("every server would refuse this token: %s", inFlags(detail))
		}
	}
	if err != nil {
		return err
	}
	if o.onlyText {
		fmt.Fprintln(p.Out, token)
		return nil
	}
	t, err := sas.Parse(token)
	if err != nil {
		return err
	}
	if !o.json {
		for _, line := range t.Describe() {
			fmt.Fprintln(p.Err, line)
		}
	}
	endpoint := p.sasEndpoint(ctx, o, file)
	if o.table != "" {
		endpoint += "/" + o.table
	}
	if o.json {
		return p.PrintJSON(struct {
			URL     string   `json:"url"`
			Token   string   `json:"token"`
			Permits []string `json:"permits"` // one sentence about each permission
		}{endpoint + "?" + token, token, t.Describe()})
	}
	fmt.Fprintln(p.Out, endpoint+"?"+token)
	return nil
}

// parameter matches the names of token parameters that have a flag.
var parameter = regexp.MustCompile(`\b(sip|spk|srk|epk|erk|se|st|sp|si|sv)\b`)

// inFlags replaces the names of token parameters by the names of their flags.
func inFlags(text string) string {
	flags := map[string]string{"sip": "ip", "spk": "from-partition", "srk": "from-row", "epk": "to-partition", "erk": "to-row",
		"se": "expires", "st": "start", "sp": "permissions", "si": "policy", "sv": "service-version"}
	return parameter.ReplaceAllStringFunc(text, func(name string) string { return "--" + flags[name] })
}

// sasEndpoint returns the URL at which the token is valid, without a trailing slash.
func (p *program) sasEndpoint(ctx context.Context, o *sasFlags, file string) string {
	if o.endpoint != "" {
		return strings.TrimSuffix(o.endpoint, "/")
	}
	info, err := o.askServer(ctx, file)
	endpoint := p.endpointOf(o.account, &o.accountFlags, info, err)
	switch {
	case endpoint == "":
	case o.httpsOnly && !strings.HasPrefix(endpoint, "https://"):
		fmt.Fprintf(p.Err, "The token is valid only over https, and the server is at %s: replace %s with its https URL, or run this command with --endpoint\n", endpoint, unknownEndpoint)
	default:
		return endpoint
	}
	return unknownEndpoint
}

// check rejects flags that would result in a valid but useless token.
func (o *sasFlags) check() error {
	if err := cli.CheckEndpoint(o.endpoint); err != nil {
		return err
	}
	if err := cli.CheckTable("--table", o.table); err != nil && o.table != "" {
		also := ""
		if _, err := letters(o.permissions, "raud", permissionWords); err != nil {
			also = "; --permissions: " + err.Error()
		}
		return cli.Misuse("%v%s", err, also)
	}
	if o.toPartition != "" && key.Compare(o.fromPartition, o.toPartition) > 0 {
		return cli.Misuse("--to-partition is before --from-partition: no entity is between")
	}
	return nil
}

func (o *sasFlags) sign(k *sharedkey.Key, now time.Time) (string, error) {
	start, err := signedTime(o.start, now)
	if err != nil {
		return "", cli.Misuse("--start: %v", err)
	}
	expiry := o.expires
	if expiry == "" && o.policy == "" {
		expiry = "1h"
	}
	if expiry, err = signedTime(expiry, now); err != nil {
		return "", cli.Misuse("--expires: %v", err)
	}
	from, _ := sas.ParseTime(start) // the result is 0 if no start is given
	if until, err := sas.ParseTime(expiry); err == nil && until <= max(from, edm.TicksOf(now)) {
		return "", cli.Misuse("--expires %s is in the past, or not after --start", o.expires)
	}
	protocol := ""
	if o.httpsOnly {
		protocol = "https"
	}
	if o.table == "" {
		return o.signAccount(k, start, expiry, protocol)
	}
	if o.resources != "" {
		return "", cli.Misuse("--resources is for a token without --table")
	}
	permissions, err := letters(o.permissions, "raud", permissionWords)
	if err != nil {
		return "", cli.Misuse("--permissions: %v", err)
	}
	if permissions == "" && o.policy == "" {
		return "", cli.Misuse("set the permissions of the token with --permissions, such as read,add,update,delete")
	}
	return sas.TableValues{
		Version: o.version, Table: o.table, Identifier: o.policy, Start: start, Expiry: expiry, Permissions: permissions,
		IP: o.ip, Protocol: protocol,
		StartPartition: o.fromPartition, StartRow: o.fromRow, EndPartition: o.toPartition, EndRow: o.toRow,
	}.Sign(o.account, k)
}

func (o *sasFlags) signAccount(k *sharedkey.Key, start, expiry, protocol string) (string, error) {
	if o.policy != "" || o.fromPartition != "" || o.toPartition != "" || o.fromRow != "" || o.toRow != "" {
		return "", cli.Misuse("--policy and ranges of keys can only be used with --table")
	}
	permissions, err := letters(o.permissions, "rwdlacu", permissionWords)
	if err != nil {
		return "", cli.Misuse("--permissions: %v", err)
	}
	if permissions == "" {
		return "", cli.Misuse("set the permissions of the token with --permissions, such as read,list")
	}
	resources := o.resources
	if resources == "" {
		resources = "all"
	}
	if resources, err = letters(resources, "sco", resourceWords); err != nil {
		return "", cli.Misuse("--resources: %v", err)
	}
	return sas.AccountValues{
		Version: o.version, ResourceTypes: resources, Start: start, Expiry: expiry, Permissions: permissions, IP: o.ip, Protocol: protocol,
	}.Sign(o.account, k)
}

// letters converts a comma-separated list of words or letters to letters, in the order required for signatures.
func letters(s, order string, words map[string]string) (string, error) {
	if s == "" {
		return "", nil
	}
	var given strings.Builder
	for part := range strings.SplitSeq(strings.ToLower(s), ",") {
		part = strings.TrimSpace(part)
		l, ok := words[part]
		switch {
		case part == "all":
			l = order
		case !ok:
			l = part
		}
		for _, c := range l {
			if !strings.ContainsRune(order, c) {
				return "", fmt.Errorf("%q is neither one of %s nor one of the letters %s", part, wordsFor(order, words), order)
			}
		}
		given.WriteString(l)
	}
	var out strings.Builder
	for _, c := range order {
		if strings.ContainsRune(given.String(), c) {
			out.WriteRune(c)
		}
	}
	return out.String(), nil
}

// wordsFor returns the words that stand for the given letters.
func wordsFor(order string, words map[string]string) string {
	var list []string
	for _, w := range slices.Sorted(maps.Keys(words)) {
		if l := words[w]; l == "" || strings.Trim(l, order) == "" {
			list = append(list, w)
		}
	}
	return strings.Join(list, ", ")
}

// signedTime converts a time to the format in tokens. The time is in RFC 3339 format, a date, or a duration from now
// such as 7d.
func signedTime(s string, now time.Time) (string, error) {
	if s == "" {
		return "", nil
	}
	if _, err := sas.ParseTime(s); err == nil {
		return s, nil
	}
	d, err := setting.Duration(s, 1, 1<<63-1)
	if err != nil {
		return "", errors.New("write a time such as 2030-01-01T00:00:00Z or a duration such as 30m, 24h or 7d")
	}
	return edm.TicksOf(now.Add(d).Truncate(time.Second)).String(), nil
}
