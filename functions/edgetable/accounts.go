package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/pflag"

	"edgetable/core/accounts"
	"edgetable/core/sharedkey"
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

// accountSource is where accounts come from: a file, or a text if there is no
// file.
type accountSource struct {
	file     string
	optional bool // without the file it is the text
	text     string
	name     string // of the text, for errors
}

// accountSource takes the file of --accounts, else the environment, else the file
// in the data directory, if there is one, else the development account.
func (p *program) accountSource(file, data string) accountSource {
	s := accountSource{file: file, text: p.environment(accounts.Variable), name: "$" + accounts.Variable}
	if file == "" && s.text == "" {
		s.text = accounts.Development + ":" + accounts.DevelopmentKey
		if data != "" {
			s.file, s.optional = filepath.Join(data, accountsInData), true
		}
	}
	return s
}

// read reads the accounts, and says in which file they are, if they are in one.
func (s *accountSource) read() (list accounts.List, file string, err error) {
	text, name := s.text, s.name
	if s.file != "" {
		content, err := readPrivate(s.file)
		switch {
		case err == nil:
			text, name, file = content, s.file, s.file
		case !s.optional:
			return nil, "", fmt.Errorf("--accounts: %w", err)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, "", fmt.Errorf("--data: %w", err)
		}
	}
	if list, err = accounts.Parse(text); err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	if len(list) == 0 {
		return nil, "", fmt.Errorf("%s names no account", name)
	}
	return list, file, nil
}

// account reads the accounts and returns the one with this name.
func (p *program) account(file, name string) (*sharedkey.Account, error) {
	list, err := p.loadAccounts(file)
	if err != nil {
		return nil, err
	}
	return known(list, name)
}

// known returns the account with this name.
func known(list accounts.List, name string) (*sharedkey.Account, error) {
	account, ok := list[name]
	if !ok {
		return nil, fmt.Errorf("the account %s is not known here; --accounts and $%s give keys, --account another name", quote(name), accounts.Variable)
	}
	return &account.Account, nil
}

// loadAccounts reads accounts once.
func (p *program) loadAccounts(file string) (accounts.List, error) {
	source := p.accountSource(file, "")
	list, _, err := source.read()
	return list, err
}
