// The badge of an entity that says when it ends.
import { type Rule, endOf, endless, left } from "../model/rule.ts"
import { type Zone, show } from "../wire/date.ts"
import { textOf } from "../wire/date.ts"
import type { Entity } from "../wire/value.ts"
import { Icon } from "./icon.tsx"

/** ends is the text of the badge in the grid, or "". */
export function ends(rule: Rule, entity: Entity, now: number): string {
  const at = endOf(rule, entity)
  return at === undefined ? "" : left(at, now)
}

/** Ends says it in words, in the panel of the entity. */
export function Ends({ rule, entity, zone, now }: { rule: Rule; entity: Entity; zone: Zone; now: number }) {
  const at = endOf(rule, entity)
  const over = at !== undefined && left(at, now) === "ended"
  return (
    <p class={over ? "ending over" : "ending"} data-test="ends">
      <Icon name="clock" />
      {at === undefined ? endless(rule, entity.values.get(rule.property)?.type) : over ? `Ended at ${show(textOf(at), zone)}: it is no longer in the table, and this is its last state that was read.` : `Ends in ${left(at, now)}, at ${show(textOf(at), zone)}`}
    </p>
  )
}
