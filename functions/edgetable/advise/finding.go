package advise

// Finding is one problem that the user should fix.
type Finding struct {
	Rule    string  `json:"rule"`
	Finding string  `json:"finding"` // a sentence that contains the number
	Number  float64 `json:"number"`
	Unit    string  `json:"unit"`
	Example string  `json:"example"` // a key or a filter
	Why     Why     `json:"why"`
	Instead string  `json:"instead"`
}

// Why explains why a problem matters, for each kind of store.
type Why struct {
	Azure    string `json:"azure"`
	DynamoDB string `json:"dynamodb"`
	Workers  string `json:"workers"`
	Binary   string `json:"binary"`
	Postgres string `json:"postgresql"`
}

// A finding needs at least this number of operations, rows or inserts. With fewer operations, percentages say
// nothing about the table.
const enough = 200
