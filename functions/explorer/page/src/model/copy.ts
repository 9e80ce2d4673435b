// Texts for the clipboard: cells and rows as TSV for spreadsheets.
import { shown } from "./lineends.ts"

/** field quotes what spreadsheets would cut at tabs and new lines. */
const field = (s: string) => (/[\t\n\r"]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s)

/** line is a row of cells as TSV; a cell without a value is empty. */
export const line = (cells: readonly (string | undefined)[]) => cells.map((s) => field(s ?? "")).join("\t")

/** copied is what was copied last, whether it is the text of one cell, and whether it comes from elsewhere. */
let copied = { text: "", alone: false, foreign: false }

/** pasted is a text of the clipboard. What was copied here has the ends of lines that it had: systems and browsers change them. */
export const pasted = (clip: string): typeof copied => (shown(clip) === shown(copied.text) ? copied : { text: shown(clip), alone: false, foreign: true })

/** note keeps a text that the browser copies, and own is the text of one cell, or a part of it, that was copied last. */
export const note = (text: string) => void (copied = { text, alone: true, foreign: false })
export const own = () => (copied.alone ? copied.text : "")

/** copy puts a text on the clipboard. Pages over plain http have no clipboard of their own, so a selection is copied there. */
export async function copy(text: string, alone = false): Promise<void> {
  copied = { text, alone, foreign: false }
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
