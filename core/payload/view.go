package payload

import (
	"edgetable/core/edm"
	"edgetable/core/table"
)

// View holds the values that all entities of one response share. Its methods append to dst and return the extended
// slice. They do not allocate.
type View struct {
	Format  Format
	Base    string // URI of the account with a trailing slash
	Account string
	Table   string      // name of the table as spelled in the request, or "Tables"
	Select  *Projection // the properties to return, or nil for all properties
	Now     edm.Ticks   // time of the response, which Atom documents contain

	lost    bool     // whether the format cannot represent an appended entity
	clock   [32]byte // cached text of Now in Atom documents
	updated int
}

// Err returns an error if the format could not represent an appended entity: XML cannot contain control characters,
// U+FFFE or U+FFFF. The body must then not be sent.
func (v *View) Err() error {
	if v.lost {
		return table.InvalidInput.With(errorText + " An entity has characters that XML cannot represent: request JSON instead.")
	}
	return nil
}
