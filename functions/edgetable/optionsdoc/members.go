package optionsdoc

// member is a member of the document or of one of its parts.
type member struct {
	name string
	// meaning is Markdown.
	meaning string
	// state marks a member that only GET returns; in a declaration it has no effect.
	state bool
	// schema describes the value, in addition to the members of an object.
	schema  map[string]any
	members []member
	// either says that at least one of the members that can be declared must be present.
	either bool
}

var scalar = map[string]any{"type": []string{"string", "number", "boolean", "null"}}

// document lists the members of a document.
var document = []member{
	{
		name: "expire", either: true,
		meaning: "a rule by which entities expire: [expire.md](expire.md). It has `property` or `after` or both; `null` means no rule",
		members: []member{
			{
				name: "property", schema: map[string]any{"type": "string", "pattern": propertyName, "not": map[string]any{"enum": []string{"PartitionKey", "RowKey", "Timestamp"}}, "examples": []string{"ExpiresAt"}, "errorMessage": "Name a property of your own. After counts from the Timestamp.", "patternErrorMessage": "No property can have this name."},
				meaning: "the name of a property. If its value is an `Edm.DateTime`, that is the instant at which the entity expires",
			},
			{
				name: "after", schema: map[string]any{"type": "string", "pattern": duration, "examples": []string{"P30D", "PT12H", "P1DT30M"}, "patternErrorMessage": "Write a time such as P30D, PT12H or P1DT30M. Months and years differ in length."},
				meaning: "how long an entity lives after its last write, if `property` does not decide: 1 second to 36,500 days, in ISO 8601 with weeks, days, hours, minutes and seconds: `P30D`, `PT12H`, `P1DT30M`. Months and years are refused, since they differ in length",
			},
			{name: "state", state: true, schema: scalar, meaning: "`active`: each operation follows the rule"},
			{name: "undoUntil", state: true, schema: scalar, meaning: "until this time, withdrawing the rule brings all entities back; absent afterwards"},
		},
	},
	{
		name:    "changes",
		meaning: "a feed of the changes in the table: [feed.md](feed.md). Without it, or after it was withdrawn, no changes are kept",
		members: []member{
			{
				name: "keep", schema: map[string]any{"type": "string", "pattern": duration, "examples": []string{"P7D"}, "patternErrorMessage": "Write a time such as P7D or PT12H. Months and years differ in length."},
				meaning: "how long a change can be read: a duration as in `expire.after`; 7 days by default",
			},
			{name: "state", state: true, schema: scalar, meaning: "`active`: each commit is in the feed"},
		},
	},
	{
		name: "ending", state: true, schema: map[string]any{"type": "object", "additionalProperties": scalar},
		meaning: "the earlier rule; `until` is the time at which it was withdrawn or changed. Entities that had expired by then stay gone, and are being removed. Meanwhile, another change of a rule that is older than an hour gets 409 `OptionsBusy`",
	},
}

// The patterns must be valid in JavaScript and RE2, so they have no lookahead. They permit what the parser permits,
// and more: durations out of bounds, and names with characters that are not letters.
const (
	tableName    = `^[A-Za-z][A-Za-z0-9]{2,62}$`
	propertyName = `^[_\p{L}\p{Nl}][\p{L}\p{Nl}\p{M}\p{Nd}\p{Pc}\p{Cf}]*$`
	clock        = `T(?:\d+H(?:\d+M)?(?:\d+S)?|\d+M(?:\d+S)?|\d+S)`
	duration     = `^P(?:(?:\d+W(?:\d+D)?|\d+D)(?:` + clock + `)?|` + clock + `)$`
)
