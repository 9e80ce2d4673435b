package cli

import (
	"regexp"
	"slices"
	"strings"

	"edgetable/core/accounts"
)

// Overridden lists the lines of the configuration file that have no effect on this command, because an environment variable
// sets the same flag.
func (p *Terminal) Overridden() []Overridden { return p.overridden }

// otherVariables are known variables that do not belong to a flag: variables for accounts, for --config, and of the
// libraries and examples that start this program.
var otherVariables = []string{accounts.Variable, "EDGETABLE_CONFIG", "EDGETABLE_CONNECTION_STRING", "EDGETABLE_BINARY", "EDGETABLE_CACHE", "EDGETABLE_VERSION",
	"EDGETABLE_ACME_DIRECTORY", "EDGETABLE_ACME_CA", "EDGETABLE_ACME_CACHE"}

// ofKubernetes matches the variables that Kubernetes sets in each pod for a Service with the name edgetable or a name that
// begins with edgetable-.
var ofKubernetes = regexp.MustCompile(`_SERVICE_(HOST|PORT)(_[A-Z0-9_]+)?$|_PORT(_[0-9]+_(TCP|UDP)(_(PROTO|PORT|ADDR))?)?$`)

// Unknown lists the environment variables whose names begin with EDGETABLE_ and that no command reads.
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
		u, least := Unknown{Name: name}, 4 // a known name is suggested if fewer than 4 letters differ
		for _, known := range p.known {
			if d := distance(rest, strings.TrimPrefix(known, "EDGETABLE_")); d < least {
				u.Like, least = known, d
			}
		}
		list = append(list, u)
	}
	return list
}
