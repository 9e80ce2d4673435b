package payload

import (
	"edgetable/core/edm"
	"edgetable/core/table"
)

// View holds the values that all entities of one response have in common. Its methods append to dst and return the
// extended slice, like append. They do not allocate.
type View struct {
	Format  Format
	Base    string      // URI of the account, ending with a slash
	Account string      // name of the account
	Table   string      // name of the table as the request spells it, or "Tables"
	Select  *Projection // the selected properties; nil means all
	Now     edm.Ticks   // time of the response; only Atom documents contain it

	lost    bool     // set if the format cannot represent an entity; see Err
	clock   [32]byte // the time in the field Now as Atom text, formatted when first needed
	updated int      // length of the text in clock
}

// Err returns an error if the format could not represent an appended entity. XML cannot contain control characters,
// U+FFFE or U+FFFF, while JSON can hold all strings. If there is an error, the body is well-formed but differs from
// the entity, so the caller must not send it.
func (v *View) Err() error {
	if v.lost {
		return table.InvalidInput.With(errorText + " An entity has characters that XML cannot represent: request JSON instead.")
	}
	return nil
}
