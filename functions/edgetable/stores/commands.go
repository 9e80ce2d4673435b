package stores

import (
	"github.com/spf13/cobra"

	"edgetable/functions/edgetable/cli"
)

// Commands returns the commands that maintain a store without a server.
func Commands(t *cli.Terminal) []*cobra.Command {
	p := &program{t}
	return []*cobra.Command{p.checkCommand(), p.postgresCommand(), p.dynamodbCommand()}
}
