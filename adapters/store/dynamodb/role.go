package dynamodb

// Role is the task of a Region in a deployment.
type Role string

const (
	Alone         Role = "alone"     // there is no other Region
	PrimaryRole   Role = "primary"   // the Region writes, and writes heartbeats for secondaries in other Regions
	SecondaryRole Role = "secondary" // the Region only serves reads, from a replica
)

// Roles lists all roles; the first is the default.
var Roles = []Role{Alone, PrimaryRole, SecondaryRole}
