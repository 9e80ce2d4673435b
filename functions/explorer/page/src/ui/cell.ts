// What a cell shows. Values become text nodes and nothing else.
import { type Zone, show } from "../wire/date.ts"
import { visible } from "../wire/unseen.ts"
import { type Type, type Value, bytesIn } from "../wire/value.ts"

/** longest bounds what a cell shows; the panel beside the grid has all of it. */
const longest = 400

interface Shown {
  text: string
  /** look is a class: number, dim, yes or "" */
  look: string
}

const short = (text: string) => visible(text.slice(0, longest)) + (text.length > longest ? "…" : "")

const absent: Shown = { text: "", look: "" }
const empty: Shown = { text: '""', look: "dim" }

/** numbers are the types whose columns are aligned at the right. */
export const numbers: readonly (Type | undefined)[] = ["Int32", "Int64", "Double"]

export function shown(value: Value | undefined, zone: Zone): Shown {
  if (!value) return absent
  const { type, text } = value
  switch (type) {
    case "String":
      return text === "" ? empty : { text: short(text), look: "" }
    case "DateTime":
      return { text: show(text, zone), look: "when" }
    case "Int32":
    case "Int64":
    case "Double":
      return { text, look: "number" }
    case "Binary":
      return { text: `${bytesIn(text)} B  ${text.slice(0, 60)}`, look: "dim mono" }
    case "Guid":
      return { text, look: "mono" }
    case "Boolean":
      return { text, look: text === "true" ? "yes" : "no" }
  }
}
