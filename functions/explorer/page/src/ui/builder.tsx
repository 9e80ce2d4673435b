// The visual builder: conditions in rows, kept equal to the text.
import { useState } from "preact/hooks"
import { type Built, type Condition, first, print, read, sent } from "../query/builder.ts"
import { operators } from "../query/lex.ts"
import { Icon } from "./icon.tsx"
import { check, types, type Type } from "../wire/value.ts"

interface Props {
  filter: string
  columns: ReadonlyMap<string, ReadonlySet<Type>>
  change: (filter: string) => void
}

const blank: Condition = { name: "PartitionKey", operator: "eq", value: { type: "String", text: "" } }

export function Builder({ filter, columns, change }: Props) {
  const [state, setState] = useState<Built>(() => read(filter) ?? { all: true, conditions: [] })
  // Text that was typed meanwhile wins, if the builder can show it.
  const typed = read(filter)
  const built = typed && print(typed) !== print(state) ? typed : state
  if (!typed) return <p class="dim builder">This filter is nested or not finished: the builder shows lists of conditions. Work with the text, or clear it.</p>
  const set = (next: Built) => {
    setState(next)
    change(print(next))
  }
  const edit = (i: number, part: Partial<Condition>) => set({ ...built, conditions: built.conditions.map((c, j) => (j === i ? { ...c, ...part } : c)) })
  const rename = (i: number, name: string) => {
    const type = [...(columns.get(name) ?? [])][0]
    const old = built.conditions[i]!
    edit(i, type && type !== old.value.type ? { name, operator: type === "String" || old.operator !== "starts" ? old.operator : "eq", value: { type, text: first[type] } } : { name })
  }
  return (
    <div class="builder" data-test="builder-panel">
      {built.conditions.map((c, i) => {
        const wrong = check(c.value)
        return (
          <div class="condition" key={i}>
            {i === 0 ? (
              <span class="dim">where</span>
            ) : (
              <select aria-label="and or or" value={built.all ? "and" : "or"} onChange={(e) => set({ ...built, all: e.currentTarget.value === "and" })}>
                <option>and</option>
                <option>or</option>
              </select>
            )}
            <input list="builder-names" aria-label="Property" value={c.name} onChange={(e) => rename(i, e.currentTarget.value)} />
            <select aria-label="Operator" value={c.operator} onChange={(e) => edit(i, { operator: e.currentTarget.value as Condition["operator"] })}>
              {operators.map((o) => (
                <option key={o} value={o}>
                  {{ eq: "=", ne: "≠", gt: ">", ge: "≥", lt: "<", le: "≤" }[o]}
                </option>
              ))}
              {c.value.type === "String" && <option value="starts">begins with</option>}
            </select>
            <select aria-label="Type" value={c.value.type} onChange={(e) => edit(i, { value: { type: e.currentTarget.value as Type, text: c.value.text } })}>
              {types.map((t) => (
                <option key={t}>{t}</option>
              ))}
            </select>
            <input aria-label="Value" aria-invalid={!!wrong} value={c.value.text} title={wrong || sent(c)} onInput={(e) => edit(i, { value: { ...c.value, text: e.currentTarget.value } })} />
            <button type="button" class="plain" aria-label="Remove the condition" onClick={() => set({ ...built, conditions: built.conditions.filter((_, j) => j !== i) })}>
              <Icon name="close" />
            </button>
            {wrong && <span class="wrong">{wrong}</span>}
          </div>
        )
      })}
      <datalist id="builder-names">
        {[...columns.keys()].map((n) => (
          <option key={n} value={n} />
        ))}
      </datalist>
      <button type="button" data-test="add-condition" onClick={() => set({ ...built, conditions: [...built.conditions, blank] })}>
        <Icon name="plus" /> Add a condition
      </button>
    </div>
  )
}
