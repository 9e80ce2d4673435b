package table

import "strings"

// RecordKey addresses a record: that of a table, or with an empty Table the
// settings of the account itself.
type RecordKey struct {
	Account string
	Table   string // in lower case, see [FoldName]
}

const (
	tablePrefix    = "table/"
	settingsPrefix = "settings/"
)

// String returns the key as text, which is the form that stores keep. It is
// "table/ACCOUNT/TABLE" or "settings/ACCOUNT"; the texts of the tables of one
// account sort as their names do.
func (k RecordKey) String() string {
	if k.Table == "" {
		return settingsPrefix + k.Account
	}
	return TablesOf(k.Account) + k.Table
}

// TablesOf returns what the texts of the keys of an account's tables begin with:
// the name of the table follows.
func TablesOf(account string) string { return tablePrefix + account + "/" }

// ParseRecordKey is the inverse of [RecordKey.String]. The key shares the memory
// of the text.
func ParseRecordKey(text string) (k RecordKey, ok bool) {
	if account, ok := strings.CutPrefix(text, settingsPrefix); ok {
		return RecordKey{Account: account}, true
	}
	rest, ok := strings.CutPrefix(text, tablePrefix)
	if !ok {
		return k, false
	}
	k.Account, k.Table, ok = strings.Cut(rest, "/")
	return k, ok && k.Table != ""
}
