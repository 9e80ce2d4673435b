package cli

import (
	"regexp"
	"slices"
	"strings"

	"edgetable/core/accounts"
)

// Overridden lists the lines of the configuration file that set a flag of this command and are overridden by an environment
// variable.
func (p *Terminal) Overridden() []Overridden { return p.overridden }

// others are known variables that do not belong to a flag: of accounts, of --config, and of the libraries and
// examples that start this program.
var otherVariables = []string{accounts.Variable, "EDGETABLE_CONFIG", "EDGETABLE_CONNECTION_STRING", "EDGETABLE_BINARY", "EDGETABLE_CACHE", "EDGETABLE_VERSION",
	"EDGETABLE_ACME_DIRECTORY", "EDGETABLE_ACME_CA", "EDGETABLE_ACME_CACHE"}

// ofKubernetes matches variables that Kubernetes sets in each pod for a Service called edgetable, or
// edgetable-something.
var ofKubernetes = regexp.MustCompile(`_SERVICE_(HOST|PORT)(_[A-Z0-9_]+)?$|_PORT(_[0-9]+_(TCP|UDP)(_(PROTO|PORT|ADDR))?)?$`)

// Unknown lists the process's variables that begin like edgetable's and that no command reads.
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
		u, least := Unknown{Name: name}, 4 // names that differ by fewer letters count as similar
		for _, known := range p.known {
			if d := distance(rest, strings.TrimPrefix(known, "EDGETABLE_")); d < least {
				u.Like, least = known, d
			}
		}
		list = append(list, u)
	}
	return list
}
