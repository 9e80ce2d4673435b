// Which columns are shown, and in which order. Remembered for each table.
import { useState } from "preact/hooks"
import { type Columns, arrange as arranged, keepForAll, move } from "../model/columns.ts"
import { Icon } from "./icon.tsx"
import { Menu } from "./parts.tsx"

interface Props {
  names: Iterable<string>
  columns: Columns
  arrange: (c: Columns | undefined) => void
}

export function ColumnsMenu({ names, columns, arrange }: Props) {
  const all = arranged(names, columns)
  const hidden = all.filter((n) => columns.hidden.includes(n)).length
  return (
    <Menu icon="columns" title="Columns: which, and in which order" label={hidden ? `Columns (${hidden} hidden)` : "Columns"} test="columns">
      {() => <List all={all} columns={columns} arrange={arrange} />}
    </Menu>
  )
}

function List({ all, columns, arrange }: { all: string[]; columns: Columns; arrange: (c: Columns | undefined) => void }) {
  const [filter, setFilter] = useState("")
  const hide = (name: string, on: boolean) => arrange({ ...columns, hidden: on ? columns.hidden.filter((n) => n !== name) : [...columns.hidden, name] })
  const shift = (name: string, by: number) => {
    const i = all.indexOf(name)
    arrange(move(all, name, by < 0 ? all[i - 1]! : (all[i + 2] ?? ""), columns))
  }
  const fixed = (name: string) => name === "PartitionKey" || name === "RowKey"
  const match = all.filter((n) => n.toLowerCase().includes(filter.toLowerCase()))
  return (
    <div class="columns">
      <input type="search" placeholder="Find a column" aria-label="Find a column" value={filter} onInput={(e) => setFilter(e.currentTarget.value)} />
      <ul>
        {match.map((name) => (
          <li key={name}>
            <label>
              <input type="checkbox" checked={!columns.hidden.includes(name)} onChange={(e) => hide(name, e.currentTarget.checked)} /> {name}
            </label>
            {!fixed(name) && (
              <span>
                <button type="button" class="plain" aria-label={`Move ${name} to the left`} disabled={all.indexOf(name) <= 2} onClick={() => shift(name, -1)}>
                  <Icon name="up" />
                </button>
                <button type="button" class="plain" aria-label={`Move ${name} to the right`} disabled={all.indexOf(name) === all.length - 1} onClick={() => shift(name, 1)}>
                  <Icon name="down" />
                </button>
              </span>
            )}
          </li>
        ))}
      </ul>
      <footer>
        <button type="button" onClick={() => arrange({ ...columns, hidden: [] })}>
          Show all
        </button>
        <button type="button" onClick={() => arrange({ ...columns, hidden: all.filter((n) => !fixed(n) && match.includes(n)) })}>
          Hide {filter ? "these" : "all but keys"}
        </button>
        <button type="button" onClick={() => keepForAll(columns)} title="Tables that you did not arrange yourself look like this one">
          Use for all tables
        </button>
        <button type="button" onClick={() => arrange(undefined)}>
          Reset
        </button>
      </footer>
    </div>
  )
}
