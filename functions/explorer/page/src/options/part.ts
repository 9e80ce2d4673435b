// What the tab "Options" knows of each part of a document. Another part is one more file with its form, and a line in parts.ts.
import type { ComponentChildren } from "preact"
import type { Document } from "../wire/options.ts"

/** Sampled says which types the first entities of the table have for each property, and how many of them. */
export interface Sampled {
  entities: number
  types: ReadonlyMap<string, ReadonlyMap<string, number>>
}

export interface FormProps {
  /** value is the part as it is edited; undefined: not declared */
  value: unknown
  change: (value: unknown) => void
  /** problem is what the service said of a member, such as ".after", or "" */
  problem: (member: string) => string
  sampled: Sampled | undefined
}

export interface Part {
  name: string
  title: string
  /** own are the members that are declared; others in an answer tell of states. */
  own: readonly string[]
  /** example is a value that each service accepts that keeps the part at all. */
  example: unknown
  Form: (p: FormProps) => ComponentChildren
  /** state tells, in words, what became of the part in an answer; now is the time, when shows an instant. */
  state: (document: Document, now: number, when: (instant: string) => string) => ComponentChildren
}

export const membersOf = (value: unknown): Record<string, unknown> => (typeof value === "object" && value && !Array.isArray(value) ? (value as Record<string, unknown>) : {})
