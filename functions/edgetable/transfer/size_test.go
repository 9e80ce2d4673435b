package transfer_test

import "os"

// numbers of random seeds, entities and rows in the tests
var (
	tripSeeds    = amount(1, 2)
	tripEntities = amount(120, 400)
	exportRows   = amount(2400, 6000)
	syncRows     = amount(3000, 9000)
	copyRows     = amount(9000, 30000)
	importRows   = amount(6000, 20000)
	damagedRows  = amount(1100, 3000)
	splitRows    = amount(2000, 3000)
)

// amount returns the parameter many if EDGETABLE_MANY is set, as in 'make many'. Otherwise it returns
// the parameter few. More data finds rarer cases but takes longer.
func amount(few, many int) int {
	if os.Getenv("EDGETABLE_MANY") != "" {
		return many
	}
	return few
}
