// Texts for the clipboard: cells and rows as TSV for spreadsheets, rows as JSON.
import { pretty } from "../wire/json.ts"
import type { Entity } from "../wire/value.ts"

/** field quotes what spreadsheets would cut at tabs and new lines. */
const field = (s: string) => (/[\t\n\r"]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s)

export const tsv = (rows: (readonly (string | undefined)[])[]) => rows.map((r) => r.map((s) => field(s ?? "")).join("\t")).join("\n")

export const tableOf = (entities: Entity[], columns: string[]) => tsv([columns, ...entities.map((e) => columns.map((c) => e.values.get(c)?.text))])

export const json = (entities: Entity[]) => (entities.length === 1 ? pretty(entities[0]!.values) : `[\n${entities.map((e) => pretty(e.values)).join(",\n")}\n]`)

/** copy puts a text on the clipboard. Pages over plain http have no clipboard of their own, so a selection is copied there. */
export async function copy(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const before = document.activeElement
  const area = document.createElement("textarea")
  area.value = text
  area.style.position = "fixed"
  ;(document.querySelector("dialog[open]") ?? document.body).append(area) // outside an open dialog nothing can be selected
  area.select()
  const done = document.execCommand("copy")
  area.remove()
  if (before instanceof HTMLElement) before.focus({ preventScroll: true })
  if (!done) throw new Error("the browser does not copy")
}
