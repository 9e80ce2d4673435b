// The rules of names and keys, made of what core says of them (rules.ts).
import { maxKey, maxPropertyName, notInKey, propertyMore, propertyStart, tableLengths } from "./rules.ts"

/** classOf writes a list of ranges as in a character class. The list has distances: to the begin of a range from the one before, and to its end. */
function classOf(ranges: string): string {
  let at = 0
  const next = (distance: string) => "\\u" + (at += parseInt(distance, 16)).toString(16).padStart(4, "0")
  return ranges.split(" ").map((r) => r.split("-").map(next).join("-")).join("")
}

const start = classOf(propertyStart)
/** word is a regular expression for the name of a property. */
export const word = `[${start}][${start}${classOf(propertyMore)}]*`
const property = new RegExp(`^${word}$`)
const badInKey = new RegExp(`[${classOf(notInKey)}]`)
const table = new RegExp(`^[A-Za-z][A-Za-z0-9]{${tableLengths[0] - 1},${tableLengths[1] - 1}}$`)

/** propertyProblem returns what is wrong with the name of a property, or "". */
export function propertyProblem(name: string): string {
  if (!property.test(name)) return "a name begins with a letter or _, then also has digits"
  return name.length > maxPropertyName ? `a name has at most ${maxPropertyName} characters` : ""
}

/** keyProblem returns what is wrong with a PartitionKey or a RowKey, or "". */
export function keyProblem(key: string): string {
  if (badInKey.test(key)) return "a key has none of / \\ # ? and no control characters"
  return key.length > maxKey ? `a key has at most ${maxKey.toLocaleString("en")} characters` : ""
}

/** goodTable reports whether a table can have the name. */
export const goodTable = (name: string) => table.test(name) && name.toLowerCase() !== "tables"
