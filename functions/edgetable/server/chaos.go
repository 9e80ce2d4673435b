package server

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"edgetable/adapters/guard/chaos"
	"edgetable/functions/edgetable/cli"
)

// chaosFlags say which faults are simulated.
type chaosFlags struct {
	rules []string
	file  string
}

func (o *chaosFlags) register(f *pflag.FlagSet) {
	f.StringArrayVar(&o.rules, "chaos", nil, "`rule` of a simulated fault, such as 'operation=InsertEntity probability=0.1 fault=503'; may be repeated; see docs/chaos.md")
	f.StringVar(&o.file, "chaos-file", "", "`file` of such rules, one a line")
}

// load makes the simulation; nil if there are no rules.
func (o *chaosFlags) load() (*chaos.Chaos, error) {
	var rules []chaos.Rule
	if o.file != "" {
		f, err := os.Open(o.file)
		if err != nil {
			return nil, fmt.Errorf("--chaos-file: %w", err)
		}
		defer f.Close()
		if rules, err = chaos.Read(f); err != nil {
			return nil, fmt.Errorf("--chaos-file %s: %w", o.file, err)
		}
	}
	for _, spec := range o.rules {
		more, err := chaos.Parse(spec)
		if err != nil {
			return nil, cli.Misuse("--chaos %q: %v", spec, err)
		}
		rules = append(rules, more...)
	}
	if len(rules) == 0 {
		return nil, nil
	}
	return chaos.New(rules), nil
}
