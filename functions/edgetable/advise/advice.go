package advise

import "time"

// Advice contains the findings about the keys of a table, and the facts on which they are based.
type Advice struct {
	Table    string    `json:"table"`
	Findings []Finding `json:"findings"`
	// Costs are empty if the traffic was counted for less than an hour, because less time does not suffice to
	// estimate a month.
	Costs    []Cost  `json:"costs"`
	PricesOf string  `json:"pricesOf"`
	Seconds  float64 `json:"seconds"` // for how long the traffic was counted
	Stored   *Stored `json:"stored,omitempty"`
}

// Judge applies the rules to the facts about a table.
func Judge(table string, f *Facts) *Advice {
	a := &Advice{Table: table, Findings: Advise(f), Costs: []Cost{}, PricesOf: PricesOf, Stored: f.Stored}
	if f.Traffic == nil || Period(f.Traffic) >= time.Hour {
		a.Costs = Costs(f)
	}
	if f.Traffic != nil {
		a.Seconds = Period(f.Traffic).Seconds()
	}
	if a.Findings == nil {
		a.Findings = []Finding{} // not nil, so that the JSON has [] instead of null
	}
	return a
}
