package accounts

import "strings"

// Entry is an account as it is written, for programs that edit a text.
type Entry struct {
	Name    string
	Keys    []string // base64
	Options []string // such as "disabled"
}

// ParseEntry splits an entry into its parts and checks none of them; Parse does that.
// It reports false unless the text is one entry with a name and a key.
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

// String is the entry as Parse reads it.
func (e Entry) String() string {
	return strings.Join(append([]string{e.Name + ":" + strings.Join(e.Keys, ":")}, e.Options...), " ")
}
