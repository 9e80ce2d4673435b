// The part "expire": when entities end.
import { inWords, ruleOf } from "../model/rule.ts"
import { count } from "../model/words.ts"
import { Duration } from "./duration.tsx"
import { type FormProps, type Part, type Sampled, membersOf } from "./part.ts"

function Form({ value, change, problem, sampled }: FormProps) {
  const rule = membersOf(value)
  const property = typeof rule.property === "string" ? rule.property : ""
  const after = typeof rule.after === "string" ? rule.after : ""
  const set = (part: { property?: string; after?: string }) => {
    const next = Object.fromEntries(Object.entries({ ...rule, ...part }).filter(([, v]) => v !== ""))
    change(Object.keys(next).length ? next : undefined)
  }
  const dates = [...(sampled?.types ?? [])].filter(([, types]) => types.has("DateTime")).map(([name]) => name)
  const good = ruleOf(value)
  return (
    <>
      <label>
        DateTime property with the instant of the end
        <input list="dates" value={property} placeholder="none" spellcheck={false} aria-invalid={!!problem(".property")} data-test="expire-property" onInput={(e) => set({ property: e.currentTarget.value.trim() })} />
        <datalist id="dates">
          {dates.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </label>
      {problem(".property") && <p class="wrong">{problem(".property")}</p>}
      <Duration label={`${property ? "Otherwise" : "Or"} a time after its last write`} value={after} change={(after) => set({ after })} none="never" wrong={!!problem(".after")} test="expire-after" />
      {problem(".after") && <p class="wrong">{problem(".after")}</p>}
      {problem("") && <p class="wrong">{problem("")}</p>}
      <p class="dim" data-test="expire-words">
        {good ? <>An entity ends {inWords(good)}. {good.property && sampled && <Found name={good.property} sampled={sampled} after={!!good.after} />}</> : value === undefined ? "Without a rule entities stay until somebody deletes them." : "The rule is not complete."}
      </p>
    </>
  )
}

/** Found says what the property is in the first entities: a rule for a property that nobody writes does nothing. */
function Found({ name, sampled: { entities, types }, after }: { name: string; sampled: Sampled; after: boolean }) {
  if (!entities) return null
  const dates = types.get(name)?.get("DateTime") ?? 0
  const others = [...(types.get(name) ?? [])].filter(([type]) => type !== "DateTime").map(([type]) => type)
  const rest = after ? "by the time after the last write" : ""
  const all = entities === 1
  return (
    <span class={dates ? "" : "doubtful"} data-test="expire-found">
      {all ? `The only entity has ${dates ? "a" : "no"} DateTime there` : `${count(dates)} of the first ${count(entities)} entities ${dates === 1 ? "has" : "have"} a DateTime there`}
      {others.length > 0 && `${all ? ", but" : ", others have"} a value of the type ${others.join(" or ")}`}
      {dates < entities && `; ${all ? "it" : "the others"} ${rest ? `${all ? "ends" : "end"} ${rest}` : `never ${all ? "ends" : "end"}`}`}.
    </span>
  )
}

export const expire: Part = {
  name: "expire",
  title: "Expiry",
  own: ["property", "after"],
  example: { after: "P1D" },
  Form,
  state: (document, now, when) => {
    const { state, undoUntil } = membersOf(document.expire)
    const ending = membersOf(document.ending)
    const before = ruleOf(ending)
    const undo = typeof undoUntil === "string" && Date.parse(undoUntil) > now ? undoUntil : ""
    return (
      <>
        <span class="rule" data-test="expire-state">
          {typeof state === "string" ? state : "not declared"}
        </span>
        {undo && (
          <p class="warning" data-test="expire-undo">
            <span>
              Until {when(undo)} withdrawing the rule brings all entities back. After that, ended entities are removed for good.
            </span>
          </p>
        )}
        {before && (
          <p class="warning" data-test="expire-ending">
            <span>
              Until {when(String(ending.until))} another rule was in force: an entity ended {inWords(before)}. Entities that ended by that rule do not come back, and are being removed. Until they are removed, a rule older than an hour cannot change.
            </span>
          </p>
        )}
      </>
    )
  },
}
