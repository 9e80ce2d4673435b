package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Group returns a command that consists of subcommands.
func Group(name, short, long string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: name + " COMMAND", Short: short, Long: long,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return Misuse("unknown command %q%s", args[0], Suggestion(c, args[0]))
			}
			return Misuse("a command is missing: %s", names(c))
		},
		RunE: func(*cobra.Command, []string) error { return nil }, // RunE is never called, because Args always returns an error
	}
	c.AddCommand(commands...)
	return c
}

// Suggestion returns a text with the commands that the user may have meant by a misspelled name.
func Suggestion(c *cobra.Command, name string) string {
	c.SuggestionsMinimumDistance = min(2, len(name)/3) // in a short name, only one letter may differ
	switch like := c.SuggestionsFor(name); {
	case len(like) > 0:
		return "; do you mean " + OneOf(like) + "?"
	case c.HasParent():
		return ": use " + names(c)
	}
	return ""
}

func names(c *cobra.Command) string {
	var list []string
	for _, sub := range c.Commands() {
		list = append(list, sub.Name())
	}
	return OneOf(list)
}

// WrongFlag returns the error for an unknown flag of c. If a subcommand is misspelled, the error is about the
// subcommand.
func WrongFlag(c *cobra.Command, args []string, err error) error {
	if c.HasSubCommands() {
		i := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") && arg != c.Name() })
		if i >= 0 && !slices.ContainsFunc(c.Commands(), func(sub *cobra.Command) bool { return sub.Name() == args[i] }) {
			return Misuse("unknown command %q%s", args[i], Suggestion(c, args[i]))
		}
	}
	if dashes := twoDashes(c, args); dashes != "" {
		return Misuse("%v%s", err, dashes)
	}
	return Misuse("%v%s", err, flagSuggestion(c, err))
}

// twoDashes returns advice if a long flag is written with one dash, such as -data.
func twoDashes(c *cobra.Command, args []string) string {
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		if len(name) > 2 && name[0] == '-' && name[1] != '-' && c.Flags().Lookup(name[1:]) != nil {
			return ": write --" + name[1:]
		}
	}
	return ""
}

// Operands returns a check for the arguments in a usage line such as "query TABLE [FILTER]". A name with … stands for
// any number of arguments.
func Operands(use string) cobra.PositionalArgs {
	names := strings.Fields(use)[1:]
	return func(c *cobra.Command, args []string) error {
		for i, name := range names {
			switch {
			case strings.Contains(name, "…"), i == len(args) && name[0] == '[':
				return nil
			case i == len(args):
				return Misuse("%s is missing: write %s %s", name, c.CommandPath(), strings.Join(names, " "))
			}
		}
		if len(args) > len(names) {
			return Misuse("unexpected argument %q: write %s", args[len(names)], strings.Join(append([]string{c.CommandPath()}, append(names, "[flags]")...), " "))
		}
		return nil
	}
}

// DemandOperands adds an argument check to all subcommands of c, at any depth, that do not have one.
func DemandOperands(c *cobra.Command) {
	for _, sub := range c.Commands() {
		if sub.Args == nil {
			sub.Args = Operands(sub.Use)
		}
		DemandOperands(sub)
	}
}
