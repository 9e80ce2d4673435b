package stores

import (
	"github.com/spf13/cobra"

	"edgetable/functions/edgetable/cli"
)

// Commands are the commands that look after a store without a server.
func Commands(t *cli.Terminal) []*cobra.Command {
	p := &program{t}
	return []*cobra.Command{p.checkCommand(), p.postgresCommand(), p.dynamodbCommand()}
}
