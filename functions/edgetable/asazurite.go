package main

import (
	"fmt"

	"edgetable/functions/edgetable/azurite"
	"edgetable/functions/edgetable/cli"
)

// asAzurite translates the command line of somebody who starts Azurite. It reports whether all is
// done, and with which status.
func (p *program) asAzurite() (done bool, status int) {
	name, args := azurite.Named(p.name, p.args)
	if name == "" {
		return false, 0
	}
	start, err := azurite.Serve(name, args, p.Environment)
	if err != nil {
		fmt.Fprintf(p.Err, "edgetable as %s: %v\n", name, err)
		return true, cli.StatusUsage
	}
	if start.Help != "" {
		fmt.Fprint(p.Out, start.Help)
		return true, cli.StatusDone
	}
	p.args, p.Remarks, p.AzuriteAccounts = start.Args, start.Notes, start.Accounts
	p.Announce = func(url string) []string { return azurite.Lines(name, url) }
	return false, 0
}
