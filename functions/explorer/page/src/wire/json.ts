// Entities in JSON with minimal metadata. Numbers keep their text, since 1.0 is a Double and 1 an Int32.
import { type Entity, type Type, type Value, types } from "./value.ts"
import { exact } from "./date.ts"
import { escaped } from "./unseen.ts"

/** Malformed says where a text stops being an entity. */
export class Malformed extends Error {
  constructor(
    message: string,
    readonly at: number,
  ) {
    super(message)
  }
}

const space = /[\s]*/y
const string = /"(?:[^"\\\u0000-\u001f]|\\.)*"/y
const atom = /-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null/y

/** parseEntity reads one entity. What is null is no value and left out. */
export function parseEntity(source: string): Entity {
  let at = 0
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at
    const m = pattern.exec(source)
    if (m) at = pattern.lastIndex
    return m?.[0]
  }
  const expect = (c: string) => {
    take(space)
    if (source[at] !== c) throw new Malformed(`expected ${c}`, at)
    at++
    take(space)
  }
  const quoted = (): string | undefined => {
    const begin = at
    const s = take(string)
    if (s === undefined) return undefined
    if (!s.includes("\\")) return s.slice(1, -1)
    try {
      return JSON.parse(s) as string
    } catch {
      throw new Malformed("this string has a wrong escape", begin)
    }
  }
  const entity: Entity = { etag: "", values: new Map() }
  const declared = new Map<string, Type>()
  expect("{")
  while (source[at] !== "}") {
    const begin = at
    const name = quoted()
    if (name === undefined) throw new Malformed("expected the name of a property in quotes", at)
    expect(":")
    const here = at
    const s = quoted()
    const a = s === undefined ? take(atom) : undefined
    if (s === undefined && a === undefined) throw new Malformed("expected a string, a number, true, false or null", here)
    take(space)
    if (name.endsWith("@odata.type")) {
      const type = (s ?? "").replace(/^Edm\./, "") as Type
      if (!types.includes(type)) throw new Malformed(`there is no type ${s}; there are ${types.join(", ")}`, here)
      declared.set(name.slice(0, -11), type)
    } else if (name === "odata.etag") {
      entity.etag = s ?? ""
    } else if (!name.startsWith("odata.") && a !== "null") {
      if (entity.values.has(name)) throw new Malformed(`${name} occurs twice`, begin)
      entity.values.set(name, s !== undefined ? { type: "String", text: s } : { type: guess(a!), text: a! })
    }
    if (source[at] === ",") {
      at++
      take(space)
      if (source[at] === "}") throw new Malformed("expected a property after the comma", at)
    } else if (source[at] !== "}") throw new Malformed("expected , or }", at)
  }
  at++
  take(space)
  if (at < source.length) throw new Malformed("unexpected text after the entity", at)
  for (const [name, type] of declared) {
    const value = entity.values.get(name)
    if (value) value.type = type
  }
  const timestamp = entity.values.get("Timestamp")
  if (timestamp) timestamp.type = "DateTime"
  return entity
}

const guess = (atom: string): Type => (atom === "true" || atom === "false" ? "Boolean" : /[.eE]/.test(atom) ? "Double" : "Int32")

/** member is a property in JSON with its type, where JSON alone does not say it. */
export function member(name: string, value: Value): string {
  const quotedName = JSON.stringify(name)
  const typed = (text: string) => `${JSON.stringify(name + "@odata.type")}:"Edm.${value.type}",${quotedName}:${JSON.stringify(text)}`
  switch (value.type) {
    case "String":
      return `${quotedName}:${JSON.stringify(value.text)}`
    case "Boolean":
    case "Int32":
      return `${quotedName}:${value.text}`
    case "Double":
      return Number.isFinite(Number(value.text)) && /^-?\d/.test(value.text) && !value.text.endsWith(".") && !/\.[eE]/.test(value.text)
        ? `${quotedName}:${/[.eE]/.test(value.text) ? value.text : value.text + ".0"}`
        : typed(value.text)
    case "DateTime":
      return name === "Timestamp" ? `"Timestamp":${JSON.stringify(value.text)}` : typed(exact(value.text))
    default:
      return typed(value.text)
  }
}

/** body is an entity as it is sent: without Timestamp, which is the server's. */
export const body = (values: Map<string, Value>) => "{" + [...values].filter(([name]) => name !== "Timestamp").map(([n, v]) => member(n, v)).join(",") + "}"

/** pretty is an entity for people: one property a line, and what nobody would see is escaped. */
export const pretty = (values: Iterable<[string, Value]>) => {
  const lines = [...values].map(([name, value]) => "  " + member(name, value).replace(/^("(?:[^"\\]|\\.)*@odata\.type"):("[^"]*"),("(?:[^"\\]|\\.)*"):/, "$1: $2,\n  $3: ").replace(/^("(?:[^"\\]|\\.)*"):(?! )/, "$1: "))
  return lines.length ? escaped("{\n" + lines.join(",\n") + "\n}") : "{}"
}
