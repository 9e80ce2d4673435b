package transfer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"edgetable/core/table"
	"edgetable/functions/edgetable/transfer/azuritefile"
	"edgetable/functions/edgetable/transfer/rows"
)

// InAzurite returns the path of Azurite's table file. The argument is the path of this file or of its directory. If the
// file does not exist, InAzurite returns "".
func InAzurite(path string) string {
	if filepath.Base(path) == rows.AzuriteName {
		return path
	}
	file := filepath.Join(path, rows.AzuriteName)
	if _, err := os.Stat(file); err != nil {
		return ""
	}
	return file
}

// AzuriteSources returns the tables in the Azurite file or directory at path. If tableName is not "", it returns only
// this table. If account is "", the file must contain a single account.
func AzuriteSources(path, account, tableName string) (list []Source, err error) {
	file := InAzurite(path)
	if file == "" {
		return nil, fmt.Errorf("%s is not Azurite's file %s, nor a directory with it: leave out --account", path, rows.AzuriteName)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	all, err := azuritefile.Tables(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var accounts []string
	for _, t := range all {
		if !slices.Contains(accounts, t.Account) {
			accounts = append(accounts, t.Account)
		}
	}
	switch {
	case len(all) == 0:
		return nil, fmt.Errorf("%s has no tables; Azurite writes them every five seconds, and when Ctrl-C stops it", file)
	case account != "" && !slices.Contains(accounts, account):
		return nil, fmt.Errorf("%s has no tables of the account %s, but of %s", file, account, strings.Join(accounts, ", "))
	case account == "" && len(accounts) > 1:
		return nil, fmt.Errorf("%s has tables of several accounts: name one with --account: %s", file, strings.Join(accounts, " or "))
	case account == "":
		account = accounts[0]
	}
	for _, t := range all {
		if t.Account != account || tableName != "" && table.FoldName(t.Name) != table.FoldName(tableName) {
			continue
		}
		list = append(list, Source{Table: t.Name, File: rows.File{Path: file, Size: t.End - t.Begin, Time: info.ModTime().UnixNano()}, contents: contents{azurite: &t}})
	}
	if len(list) == 0 {
		return nil, errors.New(file + " has no table " + tableName)
	}
	return list, nil
}
