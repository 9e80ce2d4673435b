// What may stand at the cursor of a filter.
import type { Type } from "../wire/value.ts"
import { lex, operators } from "./lex.ts"

export interface Choice {
  text: string
  /** what is shown beside it */
  note: string
  /** cursor is where the cursor is put in the text; at its end if it is absent */
  cursor?: number
}

interface Completion {
  from: number
  to: number
  choices: Choice[]
}

type Known = ReadonlyMap<string, ReadonlySet<Type>>

const meanings: Record<string, string> = { eq: "equal", ne: "not equal", gt: "greater", ge: "greater or equal", lt: "less", le: "less or equal" }

export function complete(source: string, cursor: number, columns: Known, now: Date): Completion {
  const before = lex(source.slice(0, cursor)).filter((t) => t.kind !== "end")
  const last = before.at(-1)
  const typing = last && last.end === cursor && (last.kind === "name" || last.kind === "word" || last.text === "true" || last.text === "false") ? last : undefined
  const done = typing ? before.slice(0, -1) : before
  const all = wanted(done, columns, now, done.at(-1)?.end !== cursor)
  const begun = typing?.text.toLowerCase() ?? ""
  const matching = all.filter((c) => c.text.toLowerCase().startsWith(begun))
  const within = begun.length > 1 ? all.filter((c) => !matching.includes(c) && c.text.toLowerCase().includes(begun)) : []
  const choices = [...matching, ...within].filter((c) => c.text !== typing?.text)
  return { from: typing?.at ?? cursor, to: cursor, choices: choices.slice(0, 50) }
}

/** wanted is what may follow; behind says that a blank stands before the cursor. */
function wanted(done: ReturnType<typeof lex>, columns: Known, now: Date, behind: boolean): Choice[] {
  const last = done.at(-1)
  if (last?.kind === "wrong") return []
  if (last?.kind === "name") {
    return operators.map((o) => ({ text: o + " ", note: meanings[o]! }))
  }
  if (last?.kind === "word" && operators.includes(last.text as never)) {
    const types = columns.get(done.at(-2)?.text ?? "")
    return [...(types?.size ? types : (["String"] as const))].flatMap((t) => values(t, now))
  }
  if (last?.kind === "literal" || last?.kind === ")") {
    const value = last.kind === "literal" && done.at(-2)?.kind !== "word"
    // Directly behind a value the filter may be complete, and on a phone the list would lie on the button that runs it: a blank asks for more.
    if (!value && behind) return [{ text: "and ", note: "both" }, { text: "or ", note: "one of both" }]
    return []
  }
  if (last?.kind === ",") return [{ text: "''", note: "text", cursor: 1 }]
  const inCall = last?.kind === "(" && done.at(-2)?.text === "startswith"
  const names = [...columns].map(([name, types]) => ({ text: name + (inCall ? ", " : " "), note: [...types].join(", ") }))
  if (inCall) return names
  return [...names, { text: "startswith()", note: "begins with; sent as a range", cursor: 11 }, { text: "not ", note: "" }, { text: "(", note: "" }]
}

function values(type: Type, now: Date): Choice[] {
  const date = (ago: number) => `datetime'${new Date(now.getTime() - ago).toISOString()}'`
  switch (type) {
    case "String":
      return [{ text: "''", note: "String", cursor: 1 }]
    case "Boolean":
      return [{ text: "true ", note: "Boolean" }, { text: "false ", note: "Boolean" }]
    case "DateTime":
      return [
        { text: date(3_600_000), note: "an hour ago" },
        { text: date(86_400_000), note: "a day ago" },
        { text: date(7 * 86_400_000), note: "a week ago" },
        { text: date(0), note: "now" },
      ]
    case "Guid":
      return [{ text: "guid''", note: "Guid", cursor: 5 }]
    case "Binary":
      return [{ text: "X''", note: "Binary, in hex", cursor: 2 }]
    case "Int64":
      return [{ text: "0L", note: "Int64", cursor: 1 }]
    default:
      return []
  }
}
