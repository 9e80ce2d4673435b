package account

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"edgetable/core/accounts"
	"edgetable/core/sharedkey"
	"edgetable/functions/edgetable/cli"
)

// Source says where accounts come from: a file, or an inline list if there is no file.
type Source struct {
	file     string
	optional bool // if true, the file may be missing: then the accounts come from the inline list
	text     string
	name     string // name of the text in errors
	weak     bool   // weak keys are permitted: they may be shorter than the minimum length
}

// WeakSource returns a source of accounts for tests. Its text comes from an environment variable and may contain
// short keys.
func WeakSource(text, variable string) Source {
	return Source{text: text, name: "$" + variable, weak: true}
}

// NewSource chooses the source of accounts: the file of --accounts, or else the environment, or else the file in the
// data directory, or else the development account.
func NewSource(environment func(string) string, file, data string) Source {
	s := Source{file: file, text: environment(accounts.Variable), name: "$" + accounts.Variable}
	if file == "" && s.text == "" {
		s.text = accounts.Development + ":" + accounts.DevelopmentKey
		if data != "" {
			s.file, s.optional = filepath.Join(data, cli.AccountsInData), true
		}
	}
	return s
}

// read reads the accounts. If they come from a file, it also returns the name of the file.
func (s *Source) read() (list accounts.List, file string, err error) {
	text, name := s.text, s.name
	if s.file != "" {
		content, err := cli.ReadPrivate(s.file)
		switch {
		case err == nil:
			text, name, file = content, s.file, s.file
		case !s.optional:
			return nil, "", fmt.Errorf("--accounts: %w", err)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, "", fmt.Errorf("--data: %w", err)
		}
	}
	parse := accounts.Parse
	if s.weak {
		parse = accounts.ParseWeak
	}
	if list, err = parse(text); err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	if len(list) == 0 {
		return nil, "", fmt.Errorf("%s names no account", name)
	}
	return list, file, nil
}

// Find reads the accounts and returns the one with this name.
func Find(environment func(string) string, file, name string) (*sharedkey.Account, error) {
	source := NewSource(environment, file, "")
	list, _, err := source.read()
	if err != nil {
		return nil, err
	}
	return known(list, name)
}

func known(list accounts.List, name string) (*sharedkey.Account, error) {
	account, ok := list[name]
	if name == "" {
		return nil, cli.Misuse("the URL names no account: write it after the host, as in %s, or give --account", cli.UsualURL+accounts.Development)
	}
	if !ok {
		return nil, fmt.Errorf("the account %s is not known here; give its key with --accounts or $%s, or another name with --account", cli.Quote(name), accounts.Variable)
	}
	return &account.Account, nil
}
