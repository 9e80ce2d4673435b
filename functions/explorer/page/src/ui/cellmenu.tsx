// What can be done with a cell and its row.
import { literal } from "../wire/odata.ts"
import { parse } from "../query/parse.ts"
import { type Value, system } from "../wire/value.ts"
import { plural } from "../model/words.ts"
import { Choice } from "./parts.tsx"

interface Props {
  name: string
  value: Value | undefined
  filter: string
  /** rows is how many are selected */
  rows: number
  writable: boolean
  act: (what: Act, filter?: string) => void
}

export type Act = "edit" | "clear" | "copy" | "copy-rows" | "copy-json" | "paste" | "filter" | "open" | "change" | "clone" | "delete"

/** also adds a condition to a filter. */
function also(filter: string, condition: string): string {
  if (!filter.trim()) return condition
  return `${parse(filter).filter?.kind === "or" ? `(${filter})` : filter} and ${condition}`
}

export function CellMenu({ name, value, filter, rows, writable, act }: Props) {
  const editable = writable && !system.includes(name)
  const many = rows > 1 ? ` of ${plural(rows, "row")}` : ""
  return (
    <>
      {editable && (
        <Choice icon="edit" test="cell-edit" act={() => act("edit")}>
          Edit the value <kbd>F2</kbd>
        </Choice>
      )}
      {editable && (value || rows > 1) && (
        <Choice icon="close" test="cell-clear" act={() => act("clear")}>
          Remove the value{many} <kbd>Backspace</kbd>
        </Choice>
      )}
      {value && (
        <>
          <Choice icon="filter" test="cell-filter" act={() => act("filter", also(filter, `${name} eq ${literal(value)}`))}>
            Filter by this value
          </Choice>
          <Choice icon="nothing" test="cell-exclude" act={() => act("filter", also(filter, `${name} ne ${literal(value)}`))}>
            Leave this value out
          </Choice>
        </>
      )}
      <hr />
      <Choice icon="copy" test="cell-copy" act={() => act("copy")}>
        Copy <kbd>Ctrl C</kbd>
      </Choice>
      <Choice icon="table" test="cell-copy-rows" act={() => act("copy-rows")}>
        Copy rows with names
      </Choice>
      <Choice icon="code" test="cell-copy-json" act={() => act("copy-json")}>
        Copy as JSON
      </Choice>
      {writable && !!navigator.clipboard && (
        <Choice icon="download" test="cell-paste" act={() => act("paste")}>
          Paste … <kbd>Ctrl V</kbd>
        </Choice>
      )}
      <hr />
      <Choice icon="right" test="cell-open" act={() => act("open")}>
        Show the entity <kbd>Enter</kbd>
      </Choice>
      {writable && (
        <>
          <Choice icon="edit" test="cell-change" act={() => act("change")}>
            Edit the entity <kbd>E</kbd>
          </Choice>
          <Choice icon="clone" test="cell-clone" act={() => act("clone")}>
            Clone the entity
          </Choice>
          <Choice icon="trash" test="cell-delete" danger act={() => act("delete")}>
            Delete {plural(rows, "entity", "entities")} <kbd>Del</kbd>
          </Choice>
        </>
      )}
    </>
  )
}
