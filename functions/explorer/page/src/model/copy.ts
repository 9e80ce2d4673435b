// Texts for the clipboard: cells and rows as TSV for spreadsheets.

/** field quotes what spreadsheets would cut at tabs and new lines. */
const field = (s: string) => (/[\t\n\r"]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s)

/** line is a row of cells as TSV; a cell without a value is empty. */
export const line = (cells: readonly (string | undefined)[]) => cells.map((s) => field(s ?? "")).join("\t")

/** copied is what was copied last, and whether it is the text of one cell. */
let copied = { text: "", alone: false }

const withLF = (s: string) => s.replace(/\r\n?/g, "\n")

/** pasted is a text of the clipboard. What was copied here has the ends of lines that it had: systems and browsers change them. */
export const pasted = (clip: string): typeof copied => (withLF(clip) === withLF(copied.text) ? copied : { text: withLF(clip), alone: false })

/** copy puts a text on the clipboard. Pages over plain http have no clipboard of their own, so a selection is copied there. */
export async function copy(text: string, alone = false): Promise<void> {
  copied = { text, alone }
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
