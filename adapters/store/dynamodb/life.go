package dynamodb

import (
	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Conditions about the end of entities, according to what a table declares.

// The placeholders of rules. Those of properties begin with a digit, and those of the store's attributes have one
// letter.
const (
	nameInstant  = "#rp" // the property with the instant; #rq belongs to the rule that is being withdrawn
	nameDateTime = "#rt"
)

// demandLife adds the condition that an entity has certainly not ended at the Timestamp of a write. DynamoDB cannot
// always tell, because the texts of DateTimes sort correctly only by whole seconds. Then the condition fails, the
// failure returns the entity, and core judges it. So a write costs one call, as in a table without a rule, unless its
// entity has ended or ends in this second. The condition is the last one of a conjunction.
func demandLife(e *call.Expression, t *table.Traits, now edm.Ticks) {
	for i, rule := range [...]*table.Expiry{t.Expiry, t.Ending} {
		if rule == nil {
			continue
		}
		suffix := string(rune('0' + i))
		at, name := now, nameInstant
		if rule.Until != 0 {
			at, name = rule.Until, "#rq"
		}
		if len(rule.Property) > maxName { // an expression cannot contain such a name
			e.Demand("attribute_not_exists(#t)")
			continue
		}
		young := "#t>:ra" + suffix
		if rule.After > 0 {
			e.Bind(":ra"+suffix, num(at-rule.After))
		}
		if rule.Property == "" {
			e.Demand(young)
			continue
		}
		instant := name + "." + nameDateTime
		e.BindName(name, rule.Property)
		e.BindName(nameDateTime, tagDateTime)
		e.Bind(":rb"+suffix, str(at.String()[:len("2006-01-02T15:04:05")]+"Z"))
		lives := instant + ">:rb" + suffix + " OR attribute_not_exists(" + instant + ")"
		if rule.After > 0 {
			lives += " AND " + young
		}
		if rule.Until != 0 { // the rule applies only to entities written until then
			lives += " OR #t>:rc" + suffix
			e.Bind(":rc"+suffix, num(rule.Until))
		}
		e.Demand("(" + lives + ")")
	}
}
