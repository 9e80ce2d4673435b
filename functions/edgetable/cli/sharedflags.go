package cli

import (
	"errors"
	"time"

	"github.com/spf13/pflag"

	"edgetable/core/accounts"
	"edgetable/core/edm"
)

// AccountsInData is the name of the accounts file in a data directory.
const AccountsInData = "accounts"

// AccountsFlag adds --accounts, the accounts file.
func AccountsFlag(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "accounts", "", "`file` of accounts, one name:key1[:key2] per line; default $"+accounts.Variable+" (the same, also separated by semicolons), or else the file "+
		AccountsInData+" in the data directory, or else the development account")
}

// AccountFlag adds --account, the name of an account.
func AccountFlag(f *pflag.FlagSet, to *string, note string) {
	f.StringVar(to, "account", "", "`name` of the account"+note)
}

// EndpointFlag adds --endpoint, the URL of an account.
func EndpointFlag(f *pflag.FlagSet, to *string, note string) {
	f.StringVar(to, "endpoint", "", "`URL` of the account, as in a connection string; "+note)
}

// TableFlag adds --table, the name of a table.
func TableFlag(f *pflag.FlagSet, to *string, usual, note string) {
	f.StringVar(to, "table", usual, "`name` of the table"+note)
}

// DataFlag adds --data, the data directory.
func DataFlag(f *pflag.FlagSet, to *string, note string) {
	f.StringVar(to, "data", "data", "data `directory`; "+note)
}

// AdminFlag adds --admin, the administration socket of a server.
func AdminFlag(f *pflag.FlagSet, to *string, note string) {
	f.StringVar(to, "admin", "", "`path` of the server's administration socket; default "+AdminSocket+" in the data directory"+note)
}

// UsualAddress is the default address of a server, and UsualURL is its URL.
const (
	UsualAddress = "127.0.0.1:10002"
	UsualURL     = "http://" + UsualAddress + "/"
)

// ListenFlag adds --listen, the address of a server.
func ListenFlag(f *pflag.FlagSet, to *string, usual string) {
	f.StringVar(to, "listen", usual, "`address` to serve on, host:port; port 0 means any free port")
}

// ConnectionsFlag adds --connections, the maximum number of concurrent requests.
func ConnectionsFlag(f *pflag.FlagSet, to *int) {
	IntFlag(f, to, "connections", 16, 1, 10_000, "`number` of connections, each with one request at a time")
}

// DryRunFlag adds --dry-run.
func DryRunFlag(f *pflag.FlagSet, to *bool) {
	BoolFlag(f, to, "dry-run", "change nothing; print what would be done")
}

// MaxTime is the maximum of flags with a duration.
const MaxTime = 366 * 24 * time.Hour

// OlderThanFlag adds --older-than.
func OlderThanFlag(f *pflag.FlagSet, to *time.Duration, age string) {
	DurationFlag(f, to, "older-than", 0, 0, 100*MaxTime, "minimum age for removal, such as 30d or 12h; "+age)
}

// ToTimeFlag adds --to-time, the time to restore. The default is 0.
func ToTimeFlag(f *pflag.FlagSet, to *edm.Ticks, note string) {
	ValueFlag(f, to, "to-time", "time", "moment to restore, a `time` such as 2026-11-23T14:03:07Z"+note, parseTime, showTime)
}

func parseTime(text string) (edm.Ticks, error) {
	t, err := edm.ParseDateTime(text)
	if err != nil || t <= 0 {
		return 0, errors.New("write a time such as 2026-11-23T14:03:07Z or 2026-11-23T14:03:07.1234567Z")
	}
	return t, nil
}

func showTime(t edm.Ticks) string {
	if t == 0 {
		return ""
	}
	return t.Time().Format(time.RFC3339Nano)
}

// UsualBuckets is the default of --buckets.
const UsualBuckets = 8

// BucketsUsage is the help text of --buckets.
const BucketsUsage = "`number` of hash keys over which a table is spread on DynamoDB"

// AdminSocket is the name of the administration socket in the data directory, through which commands reach the server.
// Only the server's user and root can connect to it.
const AdminSocket = "admin.sock"

// JSONFlag adds --json.
func JSONFlag(f *pflag.FlagSet, to *bool) {
	BoolFlag(f, to, "json", "print JSON instead of text; long-running commands also print events to standard error, one per line")
}

// EventsFlag adds --json to a long-running command, which then also prints events.
func EventsFlag(f *pflag.FlagSet) {
	JSONFlag(f, new(bool))
	f.Lookup("json").Value = eventful{f.Lookup("json").Value}
}

// eventful is the value of a flag --json that makes the command print events.
type eventful struct{ pflag.Value }

// PrintsEvents reports whether events are enabled by --json.
func PrintsEvents(f *pflag.FlagSet) bool {
	json := f.Lookup("json")
	if json == nil {
		return false
	}
	_, ok := json.Value.(eventful)
	return ok && json.Value.String() == "true"
}
