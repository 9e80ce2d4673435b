package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"
)

// completeProfiles offers the names of profiles.
func completeProfiles(c *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	path := os.Getenv(variable("profiles"))
	if flag := c.Flag("profiles"); flag != nil && flag.Changed {
		path = flag.Value.String()
	}
	f, err := openProfiles(path)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return slices.Sorted(maps.Keys(f.list)), cobra.ShellCompDirectiveNoFileComp
}

// completionCommand prints the script with which a shell completes commands and
// flags.
func (p *program) completionCommand() *cobra.Command {
	c := p.group("completion", "Print the script with which a shell completes commands and flags", "")
	for _, shell := range []struct {
		name, load string
		script     func(root *cobra.Command, w io.Writer) error
	}{
		{"bash", "source <(edgetable completion bash)",
			func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) }},
		{"fish", "edgetable completion fish | source",
			func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) }},
		{"powershell", "edgetable completion powershell | Out-String | Invoke-Expression",
			(*cobra.Command).GenPowerShellCompletionWithDesc},
		{"zsh", "source <(edgetable completion zsh)",
			(*cobra.Command).GenZshCompletion},
	} {
		c.AddCommand(&cobra.Command{
			Use: shell.name, Short: fmt.Sprintf("Print the script for %s", shell.name),
			Example: "  " + shell.load,
			RunE:    func(c *cobra.Command, _ []string) error { return shell.script(c.Root(), p.out) },
		})
	}
	return c
}
