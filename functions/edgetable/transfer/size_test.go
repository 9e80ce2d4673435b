package transfer_test

import "os"

// How much the tests move.
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

// amount is more with EDGETABLE_MANY, as in 'make many': that finds more rare cases, and takes longer.
func amount(few, many int) int {
	if os.Getenv("EDGETABLE_MANY") != "" {
		return many
	}
	return few
}
