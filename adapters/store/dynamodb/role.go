package dynamodb

// Role is the role of a Region's programs in a deployment.
type Role string

const (
	Alone         Role = "alone"     // there is no other Region
	PrimaryRole   Role = "primary"   // writes, and sends heartbeats for secondaries in other Regions
	SecondaryRole Role = "secondary" // only serves reads from a replica
)

// Roles lists all roles; the first is the default.
var Roles = []Role{Alone, PrimaryRole, SecondaryRole}
