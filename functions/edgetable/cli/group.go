package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// Group is a command that only has commands below it.
func Group(name, short, long string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: name + " COMMAND", Short: short, Long: long,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return Misuse("there is no command %q%s", args[0], Suggestion(c, args[0]))
			}
			return Misuse("say what to do: %s", names(c))
		},
		RunE: func(*cobra.Command, []string) error { return nil }, // Args refuses everything
	}
	c.AddCommand(commands...)
	return c
}

// Suggestion names the commands that one with a spelling mistake may mean.
func Suggestion(c *cobra.Command, name string) string {
	c.SuggestionsMinimumDistance = 2
	switch like := c.SuggestionsFor(name); {
	case len(like) > 0:
		return "; do you mean " + OneOf(like) + "?"
	case c.HasParent():
		return ": say " + names(c)
	}
	return ""
}

// names are the commands of a group.
func names(c *cobra.Command) string {
	var list []string
	for _, sub := range c.Commands() {
		list = append(list, sub.Name())
	}
	return OneOf(list)
}

// TwoDashes explains a flag with one dash, as in -data. Single letters are the only
// flags that have one.
func TwoDashes(c *cobra.Command, args []string) string {
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		if len(name) > 2 && name[0] == '-' && name[1] != '-' && c.Flags().Lookup(name[1:]) != nil {
			return ": write --" + name[1:]
		}
	}
	return ""
}

// Operands demands the arguments that the use of a command names, as in "query TABLE
// [FILTER]". One with … stands for any number.
func Operands(use string) cobra.PositionalArgs {
	names := strings.Fields(use)[1:]
	return func(_ *cobra.Command, args []string) error {
		for i, name := range names {
			switch {
			case strings.Contains(name, "…"), i == len(args) && name[0] == '[':
				return nil
			case i == len(args):
				return Misuse("%s is missing", name)
			}
		}
		if len(args) > len(names) {
			return Misuse("%q is too much", args[len(names)])
		}
		return nil
	}
}

// DemandOperands sets the arguments of all commands below c that have none.
func DemandOperands(c *cobra.Command) {
	for _, sub := range c.Commands() {
		if sub.Args == nil {
			sub.Args = Operands(sub.Use)
		}
		DemandOperands(sub)
	}
}
