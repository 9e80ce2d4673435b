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

// Source is the source of accounts: a file or an inline list.
type Source struct {
	file     string
	optional bool // if the file does not exist, the inline list is used
	text     string
	name     string // name of the inline list for error messages
	weak     bool   // keys below the minimum length are permitted
}

// WeakSource returns a source of accounts for tests: the text of an environment variable, which may contain short keys.
func WeakSource(text, variable string) Source {
	return Source{text: text, name: "$" + variable, weak: true}
}

// NewSource returns the source of accounts: the file of --accounts, else the environment, else the file in the data
// directory, else the development account.
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

// read returns the accounts and the name of their file. The name is "" if the accounts are not from a file.
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

// Find returns the account with the given name.
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
