// The parts of a document that have a form. What a newer service declares beside them is edited as JSON.
import type { Document } from "../wire/options.ts"
import { changes } from "./changes.tsx"
import { expire } from "./expire.tsx"
import { type Part, membersOf } from "./part.ts"

export const parts: readonly Part[] = [expire, changes]

/** declaredIn is what a document declares, without what it tells of states. */
export function declaredIn(document: Document): Document {
  const declared: Document = {}
  for (const [name, value] of Object.entries(document)) {
    if (name === "ending" || value === null) continue
    const part = parts.find((p) => p.name === name)
    declared[name] = part ? Object.fromEntries(Object.entries(membersOf(value)).filter(([member]) => part.own.includes(member))) : value
  }
  return declared
}

export const written = (document: Document) => JSON.stringify(document, null, 2)
