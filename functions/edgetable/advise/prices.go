package advise

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
)

// Price is a platform's price in US dollars for one kind of usage: the list price of the cheapest large region, without
// free tiers.
type Price struct {
	Home    string  `json:"home"`
	Thing   string  `json:"thing"`
	Dollars float64 `json:"dollars"`
	Per     float64 `json:"per"` // number of units for this price
	Of      string  `json:"of"`  // date of the price list
	Source  string  `json:"source"`
	Note    string  `json:"note,omitempty"`
}

//go:embed prices.json
var priceList []byte

// Prices are the prices for the estimated costs.
var Prices = func() (list []Price) {
	if err := json.Unmarshal(priceList, &list); err != nil {
		panic(err)
	}
	return list
}()

// PricesOf is the date of the oldest price.
var PricesOf = slices.MinFunc(Prices, func(a, b Price) int { return strings.Compare(a.Of, b.Of) }).Of
