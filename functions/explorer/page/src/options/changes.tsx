// The part "changes": a feed of what changes in the table.
import { lasts, secondsOf } from "../model/rule.ts"
import { Duration } from "./duration.tsx"
import { type FormProps, type Part, membersOf } from "./part.ts"

/** usual is for how long a feed keeps a change if its declaration does not say it; core/payload has the same. */
const usual = "P7D"

function Form({ value, change, problem }: FormProps) {
  const on = value !== undefined
  const { keep } = membersOf(value)
  const text = typeof keep === "string" ? keep : ""
  const seconds = secondsOf(text || usual)
  return (
    <>
      <label class="check">
        <input type="checkbox" checked={on} data-test="changes-on" onChange={(e) => change(e.currentTarget.checked ? {} : undefined)} />
        Keep a feed of the changes
      </label>
      {on && <Duration label="For how long a change can be read" value={text} change={(keep) => change(keep ? { keep } : {})} none="7 days" wrong={!!problem(".keep")} test="changes-keep" />}
      {problem(".keep") && <p class="wrong">{problem(".keep")}</p>}
      {problem("") && <p class="wrong">{problem("")}</p>}
      <p class="dim" data-test="changes-words">
        {!on ? "Programs cannot read the changes in this table." : seconds ? `A program that reads the feed at least once in ${lasts(seconds)} misses no change. If the feed is withdrawn, the program must list the table again.` : "The time is not complete."}
      </p>
    </>
  )
}

export const changes: Part = {
  name: "changes",
  title: "Feed of changes",
  own: ["keep"],
  example: { keep: "P1D" },
  Form,
  state: (document) => {
    const { state } = membersOf(document.changes)
    return (
      <span class="rule" data-test="changes-state">
        {typeof state === "string" ? state : "not declared"}
      </span>
    )
  },
}
