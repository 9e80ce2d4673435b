package dynamodb

import (
	"edgetable/adapters/store/dynamodb/internal/attribute"
	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// The functions in this file write the condition that an entity has not expired under the rules of its table.

// The placeholders of expiry rules have two letters, unlike the placeholders of store attributes (one letter) and of
// properties (digits first).
const (
	nameInstant  = "#rp" // placeholder of the property with the expiry time; a withdrawn rule uses #rq, because a condition may contain two rules
	nameDateTime = "#rt"
)

// demandLife adds to e the condition that the entity is certain not to have expired at the Timestamp of a write. If e
// contains an OR, the condition applies only to the part of e after the last OR.
//
// The order of DateTimes as text is exact only to the second. In doubt, the condition is false. DynamoDB then returns
// the entity, and the store checks the expiry.
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
		if len(rule.Property) > call.MaxName { // DynamoDB does not permit such a long name, so the condition is false for every stored entity.
			e.Demand("attribute_not_exists(#t)")
			continue
		}
		young := "#t>:ra" + suffix
		if rule.After > 0 {
			e.Bind(":ra"+suffix, attribute.Number(at-rule.After))
		}
		if rule.Property == "" {
			e.Demand(young)
			continue
		}
		instant := name + "." + nameDateTime
		e.BindName(name, rule.Property)
		e.BindName(nameDateTime, attribute.TagDateTime)
		e.Bind(":rb"+suffix, attribute.String(at.String()[:len("2006-01-02T15:04:05")]+"Z"))
		lives := instant + ">:rb" + suffix + " OR attribute_not_exists(" + instant + ")"
		if rule.After > 0 {
			lives += " AND " + young
		}
		if rule.Until != 0 { // a withdrawn rule does not apply to entities that were written after the withdrawal
			lives += " OR #t>:rc" + suffix
			e.Bind(":rc"+suffix, attribute.Number(rule.Until))
		}
		e.Demand("(" + lives + ")")
	}
}
