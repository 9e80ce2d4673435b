package backup

import (
	"github.com/spf13/cobra"

	"edgetable/functions/edgetable/cli"
)

// program is what the commands for backups share.
type program struct {
	*cli.Terminal
}

// Commands are the commands for backups.
func Commands(t *cli.Terminal) []*cobra.Command {
	p := &program{t}
	return []*cobra.Command{p.backupCommand()}
}
