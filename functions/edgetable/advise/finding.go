package advise

// Finding is a problem with the keys of a table.
type Finding struct {
	Rule    string  `json:"rule"`
	Finding string  `json:"finding"` // sentence that contains the number
	Number  float64 `json:"number"`
	Unit    string  `json:"unit"`
	Example string  `json:"example"` // example of a key or of a filter
	Why     Why     `json:"why"`
	Instead string  `json:"instead"`
}

// Why explains the consequences of a problem for each kind of store.
type Why struct {
	Azure    string `json:"azure"`
	DynamoDB string `json:"dynamodb"`
	Workers  string `json:"workers"`
	Binary   string `json:"binary"`
	Postgres string `json:"postgresql"`
}

// minCount is the minimum number of operations, rows or inserts for a finding. With fewer of them, percentages are
// meaningless.
const minCount = 200
