package accounts

import "strings"

// Entry is the text of one account, split into its parts. It is for programs that edit the list of accounts.
type Entry struct {
	Name    string
	Keys    []string // keys in base64
	Options []string // options of the account, such as "disabled"
}

// ParseEntry splits one account's text into its parts without validating them. It returns false unless the text is
// exactly one entry with a name and a key.
func ParseEntry(text string) (Entry, bool) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "#") || strings.ContainsAny(text, ";\n") {
		return Entry{}, false
	}
	text, options := cutOptions(text)
	name, keys, ok := strings.Cut(text, ":")
	e := Entry{Name: strings.TrimSpace(name), Options: options}
	for key := range strings.SplitSeq(keys, ":") {
		e.Keys = append(e.Keys, strings.TrimSpace(key))
	}
	return e, ok
}

// String returns the entry in the syntax of [Parse].
func (e Entry) String() string {
	return strings.Join(append([]string{e.Name + ":" + strings.Join(e.Keys, ":")}, e.Options...), " ")
}
