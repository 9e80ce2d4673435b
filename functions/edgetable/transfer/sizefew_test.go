//go:build !testmany

package transfer_test

// How much the tests move. More finds more rare cases, and takes longer.
const (
	tripSeeds    = 1
	tripEntities = 120
	exportRows   = 2400
	syncRows     = 3000
	copyRows     = 9000
	importRows   = 6000
	damagedRows  = 1100
	splitRows    = 2000
)
