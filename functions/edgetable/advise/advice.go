package advise

import "time"

// Advice holds the findings about the keys of a table and the facts behind them.
type Advice struct {
	Table    string    `json:"table"`
	Findings []Finding `json:"findings"`
	// Costs is empty if the traffic was counted for less than an hour, which is not enough to estimate a month.
	Costs    []Cost  `json:"costs"`
	PricesOf string  `json:"pricesOf"`
	Seconds  float64 `json:"seconds"` // number of seconds for which the traffic was counted
	Stored   *Stored `json:"stored,omitempty"`
}

// NewAdvice applies the rules to the facts about a table.
func NewAdvice(table string, f *Facts) *Advice {
	a := &Advice{Table: table, Findings: Advise(f), Costs: []Cost{}, PricesOf: PricesOf, Stored: f.Stored}
	if f.Traffic == nil || Period(f.Traffic) >= time.Hour {
		a.Costs = Costs(f)
	}
	if f.Traffic != nil {
		a.Seconds = Period(f.Traffic).Seconds()
	}
	if a.Findings == nil {
		a.Findings = []Finding{} // in JSON, an empty list must be [] and not null
	}
	return a
}
