package optionsdoc

// member is a member of the options document or of an object in it.
type member struct {
	name string
	// meaning describes the member in Markdown.
	meaning string
	// state means that only responses to GET contain the member. In a user's document, the member is ignored.
	state bool
	// schema is the JSON schema of the value, unless the value is an object with members.
	schema  map[string]any
	members []member
	// needsOne means that at least one of the members that a user can set is required.
	needsOne bool
}

var scalar = map[string]any{"type": []string{"string", "number", "boolean", "null"}}

// document lists the members of the options document.
var document = []member{
	{
		name: "expire", needsOne: true,
		meaning: "a rule by which entities expire: [expire.md](expire.md). It has `property` or `after` or both; `null` means no rule",
		members: []member{
			{
				name: "property", schema: map[string]any{"type": "string", "pattern": propertyName, "not": map[string]any{"enum": []string{"PartitionKey", "RowKey", "Timestamp"}}, "examples": []string{"ExpiresAt"}, "errorMessage": "Name a property other than PartitionKey, RowKey and Timestamp. The member named after counts from the Timestamp.", "patternErrorMessage": "This is not a valid property name."},
				meaning: "the name of a property. If its value is an `Edm.DateTime`, that is the instant at which the entity expires",
			},
			{
				name: "after", schema: map[string]any{"type": "string", "pattern": duration, "examples": []string{"P30D", "PT12H", "P1DT30M"}, "patternErrorMessage": "Write a duration such as P30D, PT12H or P1DT30M. Months and years are not allowed, because their lengths vary."},
				meaning: "how long an entity lives after its last write, if `property` does not decide: 1 second to 36,500 days, in ISO 8601 with weeks, days, hours, minutes and seconds: `P30D`, `PT12H`, `P1DT30M`. Months and years are not allowed, because their lengths vary",
			},
			{name: "state", state: true, schema: scalar, meaning: "`active`: each operation follows the rule"},
			{name: "undoUntil", state: true, schema: scalar, meaning: "until this time, withdrawing the rule brings all entities back; after this time, the document does not have this member"},
		},
	},
	{
		name:    "changes",
		meaning: "a feed of the changes in the table: [feed.md](feed.md). Without it, or after it was withdrawn, no changes are kept",
		members: []member{
			{
				name: "keep", schema: map[string]any{"type": "string", "pattern": duration, "examples": []string{"P7D"}, "patternErrorMessage": "Write a duration such as P7D or PT12H. Months and years are not allowed, because their lengths vary."},
				meaning: "how long a change can be read: a duration as in `expire.after`; 7 days by default",
			},
			{name: "state", state: true, schema: scalar, meaning: "`active`: each commit is in the feed"},
		},
	},
	{
		name: "ending", state: true, schema: map[string]any{"type": "object", "additionalProperties": scalar},
		meaning: "the earlier rule; `until` is the time at which it was withdrawn or changed. Entities that had expired by then do not come back, and are being removed. Until they are removed, a request to change a rule gets 409 `OptionsBusy`, if this rule is older than an hour",
	},
}

// Patterns in the schema, valid in JavaScript and RE2 (so without lookahead). They match all values that the parser
// accepts, and a few that it rejects, such as too long durations.
const (
	tableName    = `^[A-Za-z][A-Za-z0-9]{2,62}$`
	propertyName = `^[_\p{L}\p{Nl}][\p{L}\p{Nl}\p{M}\p{Nd}\p{Pc}\p{Cf}]*$`
	clock        = `T(?:\d+H(?:\d+M)?(?:\d+S)?|\d+M(?:\d+S)?|\d+S)`
	duration     = `^P(?:(?:\d+W(?:\d+D)?|\d+D)(?:` + clock + `)?|` + clock + `)$`
)
