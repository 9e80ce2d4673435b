//go:build testmany

package transfer_test

// How much the tests move. More finds more rare cases, and takes longer.
const (
	tripSeeds    = 2
	tripEntities = 400
	exportRows   = 6000
	syncRows     = 9000
	copyRows     = 30000
	importRows   = 20000
	damagedRows  = 3000
	splitRows    = 3000
)
