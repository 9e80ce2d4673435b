package cli

import (
	"regexp"
	"slices"
	"strings"

	"edgetable/core/accounts"
)

// Overridden returns the lines of the configuration file that environment variables override for this command.
func (p *Terminal) Overridden() []Overridden { return p.overridden }

// otherVariables are known variables without a flag: for accounts and --config, and for the libraries and examples that
// start this program.
var otherVariables = []string{accounts.Variable, "EDGETABLE_CONFIG", "EDGETABLE_CONNECTION_STRING", "EDGETABLE_BINARY", "EDGETABLE_CACHE", "EDGETABLE_VERSION",
	"EDGETABLE_ACME_DIRECTORY", "EDGETABLE_ACME_CA", "EDGETABLE_ACME_CACHE"}

// ofKubernetes matches the variables that Kubernetes sets in each pod for Services whose name is edgetable or begins
// with edgetable-.
var ofKubernetes = regexp.MustCompile(`_SERVICE_(HOST|PORT)(_[A-Z0-9_]+)?$|_PORT(_[0-9]+_(TCP|UDP)(_(PROTO|PORT|ADDR))?)?$`)

// Unknown returns the environment variables with the prefix EDGETABLE_ that no command reads.
func (p *Terminal) Unknown() (list []Unknown) {
	if p.Variables == nil {
		return nil
	}
	names := p.Variables()
	slices.Sort(names)
	for _, name := range names {
		rest, ours := strings.CutPrefix(name, "EDGETABLE_")
		if !ours || slices.Contains(p.known, name) || ofKubernetes.MatchString(name) {
			continue
		}
		u, least := Unknown{Name: name}, 4 // a suggestion differs by fewer than 4 letters
		for _, known := range p.known {
			if d := distance(rest, strings.TrimPrefix(known, "EDGETABLE_")); d < least {
				u.Like, least = known, d
			}
		}
		list = append(list, u)
	}
	return list
}
