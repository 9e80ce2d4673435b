package server

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"edgetable/adapters/guard/chaos"
	"edgetable/functions/edgetable/cli"
)

type chaosFlags struct {
	rules []string
}

func (o *chaosFlags) register(f *pflag.FlagSet) {
	f.StringArrayVar(&o.rules, "chaos", nil, "`rule` of a simulated fault, such as 'operation=InsertEntity probability=0.1 fault=503'; or @FILE with one rule per line; may be repeated; see docs/chaos.md")
}

// load returns the fault simulator. It returns nil if there are no rules.
func (o *chaosFlags) load() (*chaos.Chaos, error) {
	var rules []chaos.Rule
	for _, spec := range o.rules {
		more, err := read(spec)
		if err != nil {
			return nil, err
		}
		rules = append(rules, more...)
	}
	if len(rules) == 0 {
		return nil, nil
	}
	return chaos.New(rules), nil
}

// read parses a value of the flag. This is a rule, or @FILE for the rules in a file.
func read(spec string) ([]chaos.Rule, error) {
	path, file := strings.CutPrefix(spec, "@")
	if !file {
		rules, err := chaos.Parse(spec)
		if err != nil {
			err = cli.Misuse("--chaos %q: %v", spec, err)
		}
		return rules, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--chaos: %w", err)
	}
	defer f.Close()
	rules, err := chaos.Read(f)
	if err != nil {
		return nil, fmt.Errorf("--chaos %s: %w", spec, err)
	}
	return rules, nil
}
