package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// services are the flags that select a service. No command has all of them.
var services = []string{"from", "to", "in"}

// flagSuggestion returns a suggestion for an unknown flag: the flags with a similar name. If there are none, it returns
// the usage line.
func flagSuggestion(c *cobra.Command, err error) string {
	wrong, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return ""
	}
	name, like := wrong.GetSpecifiedName(), []string{}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if alike(name, f.Name) || slices.Contains(services, name) && slices.Contains(services, f.Name) {
			like = append(like, "--"+f.Name)
		}
	})
	switch {
	case len(like) > 0 && len(like) <= 4:
		return "; do you mean " + OneOf(like) + "?"
	case strings.Contains(c.Use, " "):
		return "; write " + c.UseLine()
	}
	return ""
}

// alike reports whether two names are similar: one contains the other, or they differ by at most two letters.
func alike(a, b string) bool {
	if len(a) > 2 && len(b) > 2 && (strings.Contains(a, b) || strings.Contains(b, a)) {
		return true
	}
	return distance(a, b) <= min(2, len(a)/3)
}

// distance returns the Levenshtein distance of a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0]++
		for j := range len(b) {
			replaced := corner
			if a[i] != b[j] {
				replaced++
			}
			corner = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
