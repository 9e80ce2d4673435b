// What can be done with a column.
import type { Columns } from "../model/columns.ts"
import { copy } from "../model/copy.ts"
import { go } from "../model/route.ts"
import { system } from "../wire/value.ts"
import { Choice } from "./parts.tsx"

interface Props {
  name: string
  sort: string
  columns: Columns
  arrange: (c: Columns) => void
  close: () => void
}

export function HeadMenu({ name, sort, columns, arrange, close }: Props) {
  const sortBy = (by: string) => (go({ sort: by }, true), close())
  const { [name]: _, ...widths } = columns.widths
  return (
    <>
      <hr />
      {sort !== name && (
        <Choice icon="up" test="head-ascending" act={() => sortBy(name)}>
          Sort the loaded rows by {name} <kbd>S</kbd>
        </Choice>
      )}
      {sort !== "-" + name && (
        <Choice icon="down" test="head-descending" act={() => sortBy("-" + name)}>
          … from the last to the first
        </Choice>
      )}
      {sort && (
        <Choice icon="table" test="head-unsorted" act={() => sortBy("")}>
          In the order of the keys
        </Choice>
      )}
      <Choice icon="copy" test="head-copy" act={() => (void copy(name), close())}>
        Copy the name {name}
      </Choice>
      {columns.widths[name] !== undefined && (
        <Choice icon="columns" test="head-width" act={() => (arrange({ ...columns, widths }), close())}>
          As wide as its values
        </Choice>
      )}
      {!system.slice(0, 2).includes(name) && (
        <Choice icon="close" test="head-hide" act={() => (arrange({ ...columns, hidden: [...columns.hidden, name] }), close())}>
          Hide the column
        </Choice>
      )}
    </>
  )
}
