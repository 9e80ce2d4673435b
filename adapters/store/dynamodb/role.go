package dynamodb

// Role is what the programs of one Region are in a deployment.
type Role string

const (
	Alone         Role = "alone"     // there is no other Region
	PrimaryRole   Role = "primary"   // writes, and beats for secondaries in other Regions
	SecondaryRole Role = "secondary" // serves reads of a replica alone
)

// Roles are all of them; the first is the default.
var Roles = []Role{Alone, PrimaryRole, SecondaryRole}
