package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"edgetable/functions/edgetable/cli"
)

// manCommand returns the command that writes the manual pages, for packagers.
func (p *program) manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man DIRECTORY", Hidden: true, Short: "Write a manual page for each command",
		RunE: func(c *cobra.Command, args []string) error {
			cli.Umask(0o022)
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			c.Root().DisableAutoGenTag = true
			// omit the date, so that the output is reproducible
			return doc.GenManTree(c.Root(), &doc.GenManHeader{Section: "1", Source: "edgetable", Manual: "edgetable", Date: new(time.Time)}, args[0])
		},
	}
}
