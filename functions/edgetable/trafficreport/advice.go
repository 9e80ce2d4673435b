package trafficreport

import (
	"fmt"

	"edgetable/functions/edgetable/advise"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/transfer/rows"
)

// tellAdvice prints the advice. It returns an error if there are findings.
func tellAdvice(p *cli.Terminal, a *advise.Advice, f *advise.Facts, asJSON bool) error {
	if asJSON {
		if err := p.PrintJSON(a); err != nil {
			return err
		}
	} else {
		printAdvice(p, a, f)
	}
	if n := len(a.Findings); n > 0 {
		return cli.Fail(cli.StatusDamage, fmt.Errorf("%s: %s", a.Table, cli.Things(n, "findings")))
	}
	return nil
}

func printAdvice(p *cli.Terminal, a *advise.Advice, f *advise.Facts) {
	const indent = len("   for example  ") // column at which the values begin
	line := func(name, text string) { fmt.Fprintf(p.Out, "   %-12s %s\n", name, p.Wrap(indent, text)) }
	if len(a.Findings) == 0 && f.AreEnough() {
		fmt.Fprintln(p.Out, "no finding")
	} else if len(a.Findings) == 0 {
		fmt.Fprintln(p.Out, "not enough traffic was counted to judge the keys")
	}
	for i, one := range a.Findings {
		fmt.Fprintln(p.Out, p.Wrap(3, fmt.Sprintf("%d. %s (%s)", i+1, one.Finding, one.Rule)))
		line("for example", rows.Printable(one.Example))
		line("Azure", one.Why.Azure)
		line("DynamoDB", one.Why.DynamoDB)
		line("Workers", one.Why.Workers)
		line("binary", one.Why.Binary)
		line("PostgreSQL", one.Why.Postgres)
		line("instead", one.Instead)
		fmt.Fprintln(p.Out)
	}
	if f.Splits {
		fmt.Fprintln(p.Out, p.Wrap(0, "This advice assumes that the Durable Objects of the Worker split when they are busy. With the profile named free, or with EDGETABLE_SPLIT_RATE=0, they do not split."))
		fmt.Fprintln(p.Out)
	}
	if len(a.Costs) == 0 {
		fmt.Fprintln(p.Out, "The traffic was counted for less than an hour: too short to estimate the cost of a month.")
		return
	}
	of := ""
	if f.Traffic != nil {
		of = fmt.Sprintf(" with the traffic of %s", cli.ShowDuration(advise.Period(f.Traffic)))
	}
	if f.Stored != nil {
		of += fmt.Sprintf(" and %s of entities", cli.ShowBytes(f.Stored.Bytes))
	}
	fmt.Fprintf(p.Out, "A month%s costs about, at the list prices of %s:\n", of, a.PricesOf)
	for i, name := range []string{"Azure", "DynamoDB", "Workers"} {
		line(name, fmt.Sprintf("$%.2f", a.Costs[i].Dollars))
	}
}
