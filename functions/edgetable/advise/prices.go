package advise

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
)

// Price is what a platform charges for one kind of usage, in US dollars: a list price of the cheapest large
// region, without free tiers.
type Price struct {
	Home    string  `json:"home"`
	Thing   string  `json:"thing"`
	Dollars float64 `json:"dollars"`
	Per     float64 `json:"per"` // number of units that the price is for
	Of      string  `json:"of"`  // date of the price at the source
	Source  string  `json:"source"`
	Note    string  `json:"note,omitempty"`
}

//go:embed prices.json
var priceList []byte

// Prices are all prices that the estimate uses.
var Prices = func() (list []Price) {
	if err := json.Unmarshal(priceList, &list); err != nil {
		panic(err)
	}
	return list
}()

// PricesOf is the date of the oldest of the prices.
var PricesOf = slices.MinFunc(Prices, func(a, b Price) int { return strings.Compare(a.Of, b.Of) }).Of
