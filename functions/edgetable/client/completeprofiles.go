package client

import (
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"edgetable/functions/edgetable/cli"
)

// completeProfiles offers the names of profiles.
func completeProfiles(c *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	path := os.Getenv(cli.Variable("profiles"))
	if flag := c.Flag("profiles"); flag != nil && flag.Changed {
		path = flag.Value.String()
	}
	f, err := openProfiles(path)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return slices.Sorted(maps.Keys(f.list)), cobra.ShellCompDirectiveNoFileComp
}
