package backup

import (
	"github.com/spf13/cobra"

	"edgetable/functions/edgetable/cli"
)

// Commands returns the commands for backups.
func Commands(t *cli.Terminal) []*cobra.Command {
	p := &program{t}
	return []*cobra.Command{p.backupCommand()}
}

func (p *program) backupCommand() *cobra.Command {
	return cli.Group("backup", "Make, verify and restore backups", placeHelp+`

Each backup is complete by itself; parts that several backups share are stored only once. docs/operate.md describes
backups.`,
		p.backupCreateCommand(), p.backupListCommand(), p.backupVerifyCommand(), p.backupRestoreCommand(), p.backupPruneCommand())
}
