// A length of time in a form: a number and a unit, or ISO 8601 for what needs several units.
import { useState } from "preact/hooks"
import { secondsOf } from "../model/rule.ts"

/** units are those in which the form offers a time; "" is for what needs several. */
const units = { S: "seconds", M: "minutes", H: "hours", D: "days", W: "weeks", "": "ISO 8601" }
type Unit = keyof typeof units

const printed = (n: string, unit: Unit) => (unit === "" ? n : n && `P${"SMH".includes(unit) ? "T" : ""}${n}${unit}`)

function read(after: string): { n: string; unit: Unit } {
  const m = /^P(?:(\d+)([WD])|T(\d+)([HMS]))$/.exec(after)
  return m ? { n: m[1] ?? m[3]!, unit: (m[2] ?? m[4]!) as Unit } : { n: after, unit: "" }
}

interface Props {
  label: string
  /** value is in ISO 8601; "" for none */
  value: string
  change: (value: string) => void
  /** none says what no value means */
  none: string
  wrong: boolean
  test: string
}

export function Duration({ label, value, change, none, wrong, test }: Props) {
  const [chosen, setChosen] = useState<Unit>("D")
  const { n, unit } = value ? read(value) : { n: "", unit: chosen }
  const choose = (to: Unit) => {
    setChosen(to)
    const seconds = secondsOf(value)
    change(to === "" ? value : printed(unit === "" ? (seconds ? String(seconds) : "") : n, unit === "" && seconds ? "S" : to))
  }
  return (
    <label>
      {label}
      <span class="pair">
        <input value={n} placeholder={none} inputMode={unit ? "numeric" : "text"} spellcheck={false} aria-invalid={wrong} data-test={test} onInput={(e) => change(printed(e.currentTarget.value.trim(), unit))} />
        <select aria-label="Unit of the time" value={unit} data-test={`${test}-unit`} onChange={(e) => choose(e.currentTarget.value as Unit)}>
          {(Object.keys(units) as Unit[]).map((u) => (
            <option key={u} value={u}>
              {units[u]}
            </option>
          ))}
        </select>
      </span>
    </label>
  )
}
