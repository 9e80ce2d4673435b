// The head of the grid: sorts what is loaded, and orders and sizes columns.
import { useState } from "preact/hooks"
import { type Columns, move } from "../model/columns.ts"
import { numbers } from "./cell.ts"
import { Icon } from "./icon.tsx"
import type { Point } from "./popup.tsx"
import { type Column, px } from "./row.tsx"
import { useSlots } from "./virtual.ts"

interface Props {
  pinned: Column[]
  free: Column[]
  names: string[]
  columns: Columns
  arrange: (c: Columns) => void
  sort: string
  onSort: (name: string) => void
  onMenu: (at: Point, column: string) => void
  width: number
}

export function Header({ pinned, free, names, columns, arrange, sort, onSort, onMenu, width }: Props) {
  const [dragged, setDragged] = useState("")
  const slots = useSlots(free.map((c) => c.name))
  const resize = (e: PointerEvent, c: Column) => {
    e.preventDefault()
    e.stopPropagation()
    const begin = e.clientX
    const handle = e.currentTarget as HTMLElement
    handle.setPointerCapture(e.pointerId)
    handle.onpointermove = (m) => arrange({ ...columns, widths: { ...columns.widths, [c.name]: Math.max(40, c.width + m.clientX - begin) } })
    handle.onpointerup = handle.onlostpointercapture = () => (handle.onpointermove = null)
  }
  const cell = (c: Column, pin: boolean) => {
    const direction = sort === c.name ? "ascending" : sort === "-" + c.name ? "descending" : "none"
    return (
      <div
        key={slots.get(c.name) ?? c.name}
        role="columnheader"
        aria-colindex={c.at + 2}
        aria-sort={direction}
        class={numbers.includes(c.types[0]) ? "cell head number" : "cell head"}
        style={{ left: px(c.left), width: px(c.width) }}
        draggable={!pin}
        onDragStart={() => setDragged(c.name)}
        onDragOver={(e) => dragged && !pin && e.preventDefault()}
        onDrop={() => dragged && dragged !== c.name && arrange(move(names, dragged, c.name, columns))}
        onDragEnd={() => setDragged("")}
        data-head={c.name}
      >
        <button type="button" class="plain" tabIndex={-1} title={`${c.name}, ${c.types.join(" or ")}: sort the loaded rows; drag to move`} onClick={() => (onSort(c.name), document.getElementById("grid")?.focus({ preventScroll: true }))}>
          <span class="what">
            {c.name}
            {direction !== "none" && <Icon name={direction === "ascending" ? "up" : "down"} />}
          </span>
          <span class={c.types.length > 1 ? "kind mixed" : "kind"} data-test="kind">
            {c.types.join(", ")}
          </span>
        </button>
        <button
          type="button"
          class="plain headmenu"
          tabIndex={-1}
          aria-label={`Menu of ${c.name}`}
          title="Sort, hide, copy the name"
          onClick={(e) => onMenu({ x: e.currentTarget.getBoundingClientRect().left, y: e.currentTarget.getBoundingClientRect().bottom }, c.name)}
        >
          <Icon name="more" />
        </button>
        {/* It drags nothing itself, so that the browser does not take a resize for a move of the head. */}
        <span class="resize" aria-hidden="true" draggable onDragStart={(e) => (e.preventDefault(), e.stopPropagation())} onPointerDown={(e) => resize(e, c)} />
      </div>
    )
  }
  return (
    <div role="rowgroup" class="heads">
      <div role="row" aria-rowindex={1} class="row" style={{ width: px(width) }}>
        <div role="presentation" class="pins">
          <div role="columnheader" aria-label="Row" class="cell head gutter">
            #
          </div>
          {pinned.map((c) => cell(c, true))}
        </div>
        {free.map((c) => cell(c, false))}
      </div>
    </div>
  )
}
