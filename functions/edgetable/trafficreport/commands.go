package trafficreport

import (
	"github.com/spf13/cobra"

	"edgetable/functions/edgetable/cli"
)

// Commands returns the commands traffic and advise.
func Commands(p *cli.Terminal) []*cobra.Command {
	return []*cobra.Command{trafficCommand(p), adviseCommand(p)}
}
