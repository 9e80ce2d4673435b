package main

import (
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/pflag"

	"edgetable/core/accounts"
	"edgetable/core/sharedkey"
)

// accountsFlag is the file of accounts in all commands.
func accountsFlag(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "accounts", "", "`file` of accounts, name:key1[:key2] a line; default $"+accounts.Variable+" (the same, or between semicolons), else the development account")
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

// loadAccounts takes the accounts from a file, else from the environment, else
// it is the development account alone.
func (p *program) loadAccounts(file string) (accounts.List, error) {
	source, text := "$"+accounts.Variable, p.environment(accounts.Variable)
	if file != "" {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("--accounts: %w", err)
		}
		source, text = file, strings.TrimPrefix(string(b), "\ufeff") // some editors put it there
	} else if text == "" {
		text = accounts.Development + ":" + accounts.DevelopmentKey
	}
	list, err := accounts.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s names no account", source)
	}
	return list, nil
}

// account loads the accounts and returns the one with this name.
func (p *program) account(file, name string) (*sharedkey.Account, error) {
	list, err := p.loadAccounts(file)
	if err != nil {
		return nil, err
	}
	account, ok := list[name]
	if !ok {
		return nil, fmt.Errorf("the account %s is not known here; --accounts and $%s give keys, --account another name", quote(name), accounts.Variable)
	}
	return &account.Account, nil
}

// warnIfShared warns of a file of accounts that every user of the machine can
// read.
func warnIfShared(log *slog.Logger, file string) {
	if file == "" || runtime.GOOS == "windows" { // which has no such bits
		return
	}
	if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o004 != 0 {
		log.Warn("every user of this machine can read the account keys: chmod o-r", "file", file)
	}
}
