import { Dialog } from "./parts.tsx"

const keys: [string, string][] = [
  ["Ctrl K", "filter the tables"],
  ["Ctrl Enter", "run the query, from everywhere"],
  ["Arrows, Page, Home, End", "move in the grid; with Ctrl to the end, with Shift to select"],
  ["S", "sort the loaded rows by the column; again: descending, unsorted"],
  ["+ and -", "make the column wider or narrower"],
  ["Ctrl A", "select all loaded rows"],
  ["Shift Space", "select the row"],
  ["Ctrl C", "copy the selected cells as TSV"],
  ["Enter", "show the entity beside the grid"],
  ["F2, double click", "edit the value; Enter saves, Tab goes to the next one, Escape leaves it; F2 again: its type"],
  ["Ctrl Enter", "in a value: writes it to all selected rows"],
  ["Ctrl V", "paste a range of a spreadsheet, after a preview"],
  ["Backspace", "remove the selected values"],
  ["Menu, Shift F10", "what can be done with the cell and its column"],
  ["E", "edit the entity"],
  ["Del", "delete the selected entities"],
  ["Insert", "add an entity"],
  ["Ctrl Z", "undo the last change, and the ones before it"],
  ["Ctrl S", "save the entity"],
  ["Escape", "close"],
  ["?", "this list"],
]

export function Help({ close, version }: { close: () => void; version: string }) {
  return (
    <Dialog title="Keys" close={close}>
      <dl class="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p class="dim">edgetable {version}. The licences of the libraries in this page are at the beginning of app.js.</p>
    </Dialog>
  )
}
