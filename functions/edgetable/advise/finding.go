package advise

// Finding is one thing to change.
type Finding struct {
	Rule    string  `json:"rule"`
	Finding string  `json:"finding"` // a sentence with the number
	Number  float64 `json:"number"`
	Unit    string  `json:"unit"`
	Example string  `json:"example"` // a key or a filter
	Why     Why     `json:"why"`
	Instead string  `json:"instead"`
}

// Why says what a finding means in each home.
type Why struct {
	Azure    string `json:"azure"`
	DynamoDB string `json:"dynamodb"`
	Workers  string `json:"workers"`
	Binary   string `json:"binary"`
	Postgres string `json:"postgresql"`
}

// enough is the number of operations, rows or inserts below which nothing is said:
// shares of less say nothing about the table.
const enough = 200
