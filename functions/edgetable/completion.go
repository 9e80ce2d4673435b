package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"edgetable/functions/edgetable/cli"
)

func (p *program) completionCommand() *cobra.Command {
	c := cli.Group("completion", "Print the completion script of a shell", "")
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
			RunE:    func(c *cobra.Command, _ []string) error { return shell.script(c.Root(), p.Out) },
		})
	}
	return c
}
