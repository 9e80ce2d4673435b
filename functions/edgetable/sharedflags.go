package main

import (
	"time"

	"github.com/spf13/pflag"

	"edgetable/core/accounts"
)

// accountsInData is the file of accounts in a data directory.
const accountsInData = "accounts"

// accountsFlag is the file of accounts in all commands.
func accountsFlag(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "accounts", "", "`file` of accounts, name:key1[:key2] a line; default $"+accounts.Variable+" (the same, or between semicolons), else the file "+
		accountsInData+" in the data directory, else the development account")
}

// accountFlag is the name of an account in all commands.
func accountFlag(f *pflag.FlagSet, to *string, note string) {
	f.StringVar(to, "account", "", "`name` of the account"+note)
}

// endpointFlag is where an account is in all commands.
func endpointFlag(f *pflag.FlagSet, to *string, note string) {
	f.StringVar(to, "endpoint", "", "`URL` of the account, as in a connection string; "+note)
}

// tableFlag is the name of a table in all commands.
func tableFlag(f *pflag.FlagSet, to *string, usual, note string) {
	f.StringVar(to, "table", usual, "`name` of the table"+note)
}

// dataFlag is the data directory in all commands.
func dataFlag(f *pflag.FlagSet, to *string, note string) {
	f.StringVar(to, "data", "data", "data `directory`; "+note)
}

// adminFlag is the socket of a server in all commands.
func adminFlag(f *pflag.FlagSet, to *string, note string) {
	f.StringVar(to, "admin", "", "`path` of the server's socket for its administration; default "+adminSocket+" in the data directory"+note)
}

// usualAddress is where a server listens if it is not told, and usualURL what the
// endpoints of its accounts begin with.
const (
	usualAddress = "127.0.0.1:10002"
	usualURL     = "http://" + usualAddress + "/"
)

// listenFlag is the address of a server in all commands.
func listenFlag(f *pflag.FlagSet, to *string, usual string) {
	f.StringVar(to, "listen", usual, "`address` to serve on, host:port; port 0 takes a free one")
}

// maxTime is more than any flag needs.
const maxTime = 366 * 24 * time.Hour

// olderThanFlag means the same in all commands.
func olderThanFlag(f *pflag.FlagSet, to *time.Duration, age string) {
	durationFlag(f, to, "older-than", 0, 0, 100*maxTime, "only what is older; "+age+", such as 30d or 12h")
}

// usualBuckets is the default of --buckets.
const usualBuckets = 8

// bucketsUsage is what --buckets means in all commands.
const bucketsUsage = "`number` of hash keys that a table is spread over on DynamoDB"

// adminSocket is the socket of a server in its data directory. Commands reach the
// server by it. Only the user of the server, and root, can open it.
const adminSocket = "admin.sock"

// jsonFlag is --json of all commands.
func jsonFlag(f *pflag.FlagSet, to *bool) {
	boolFlag(f, to, "json", "JSON in place of text; a command that works for long writes it to standard error, a line for each event")
}
