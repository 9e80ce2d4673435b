package dynamodb

import (
	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// What a table declares about the end of its entities, in the language of conditions.

// The placeholders of rules: those of properties begin with a digit, and ours have one letter.
const (
	nameInstant  = "#rp" // the property with the instant; #rq is that of the rule that ends
	nameDateTime = "#rt"
)

// demandLife demands that an entity has surely not ended at the Timestamp of a write. Where
// DynamoDB cannot tell, because texts of DateTimes are in order by the second only, the
// condition fails, the failure shows the entity, and core judges it. So a write costs one
// call as in a table without a rule, unless its entity has ended or ends in this second.
//
// The condition is the last one of a conjunction.
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
		if len(rule.Property) > maxName { // no expression can have such a name
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
		if rule.Until != 0 { // it concerns only what was written by then
			lives += " OR #t>:rc" + suffix
			e.Bind(":rc"+suffix, num(rule.Until))
		}
		e.Demand("(" + lives + ")")
	}
}
