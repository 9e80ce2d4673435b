package rows

import (
	"errors"
	"strings"

	"edgetable/core/key"
	"edgetable/core/table"
)

// keyFlags are the flags of import that build a key from columns.
var keyFlags = map[string]string{PartitionKey: "--partition-key", RowKey: "--row-key"}

// adviceByCode contains advice for correcting a row that fails with an error code of the protocol.
var adviceByCode = map[table.Code]string{
	table.PropertyNameInvalid:   "Use letters, digits and _, and no digit first.",
	table.PropertyValueTooLarge: "Shorten it, or leave the column out with --select.",
	table.TooManyProperties:     "Choose fewer columns with --select.",
	table.EntityTooLarge:        "Leave columns out with --select.",
}

// generic is part of some error messages and says nothing about the row.
const generic = "An error occurred while processing this request. "

// explain returns the reason for rejecting a row: the error of the protocol and, for some codes, how to correct the
// row.
func explain(err error) string {
	text := strings.Replace(err.Error(), generic, "", 1)
	if refused, ok := errors.AsType[*table.Error](err); ok && adviceByCode[refused.Code] != "" {
		return text + " " + adviceByCode[refused.Code]
	}
	if errors.Is(err, key.ErrCharacter) {
		return text + ": change it in the file, or build the key from other columns"
	}
	return text
}
