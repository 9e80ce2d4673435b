// The grid: rows and columns that are in view, one stop for the Tab key, arrows inside.
import type { ComponentChildren } from "preact"
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks"
import type { Columns } from "../model/columns.ts"
import { arrange as arranged } from "../model/columns.ts"
import type { Rows } from "../model/rows.ts"
import { look } from "../model/settings.ts"
import { useStore } from "../model/store.ts"
import type { Zone } from "../wire/date.ts"
import { useNow } from "../model/declared.ts"
import type { Rule } from "../model/rule.ts"
import { ends } from "./ends.tsx"
import { widthOf } from "./fit.ts"
import { Header } from "./header.tsx"
import type { Point } from "./popup.tsx"
import { type Column, Row, gutter, px } from "./row.tsx"
import { type Selection, area, extended, moved, single } from "./selection.ts"
import { useShare, useSlots, useVirtual } from "./virtual.ts"

export const rowHeight = 30
const headHeight = 42
/** badgeWidth is what the badge of entities that end adds to a column; options.css has it too. */
const badgeWidth = 52

interface Props {
  rows: Rows
  names: string[]
  columns: Columns
  arrange: (c: Columns) => void
  sort: string
  onSort: (name: string) => void
  selection: Selection
  select: (s: Selection) => void
  open: number // the row whose entity is beside the grid, or -1
  onOpen: (row: number) => void
  /** onKey gets the keys that do not move. */
  onKey: (e: KeyboardEvent) => void
  /** onEdit edits the active cell, and onMenu opens its menu, or that of a column, at a point of the window. */
  onEdit: () => void
  onMenu: (at: Point, column?: string) => void
  onPaste: (text: string) => void
  /** editor edits the active cell, at a place in the grid */
  rule: Rule | undefined // by which entities end
  editor?: ((left: number, top: number, width: number) => ComponentChildren) | undefined
}

export function Grid(p: Props) {
  const { zone } = useStore(look)
  const progress = useStore(p.rows.progress)
  const scroller = useRef<HTMLDivElement>(null)
  const sorted = useRef(p.sort)
  const { names, selection } = p
  const badge = !p.rule ? "" : names.includes("RowKey") ? "RowKey" : (names[0] ?? "")
  const now = useNow(!!p.rule)
  const all = useMemo(() => place(names, p.columns, p.rows, zone, badge), [names, p.columns, p.rows, progress.pages, zone, badge])
  const pinned = useMemo(() => all.filter((c) => c.name === "PartitionKey" || c.name === "RowKey"), [all])
  const free = useMemo(() => all.slice(pinned.length), [all, pinned])
  const before = gutter + pinned.reduce((n, c) => n + c.width, 0)
  const last = all.at(-1)
  const total = last ? last.left + last.width : gutter

  const [down, lastDown] = useVirtual({ count: p.rows.length, size: () => rowHeight, scroller, overscan: 6, before: headHeight })
  const [across, lastAcross] = useVirtual({ count: free.length, size: (i) => free[i]?.width ?? 100, scroller, horizontal: true, overscan: 2, before, measure: free })
  const inRow = down.getVirtualItems()
  const inColumn = across.getVirtualItems()
  const lastRow = inRow.at(-1)?.index ?? -1
  const slots = useSlots(inRow.map(({ index }) => index))
  const firstColumn = inColumn[0]?.index ?? 0
  const lastColumn = inColumn.at(-1)?.index ?? -1
  const columns = useMemo(() => free.slice(firstColumn, lastColumn + 1), [free, firstColumn, lastColumn])

  const share = useShare(columns, inRow.length, lastDown, lastAcross)

  // Preact skips what is the same element as before: most of the frames while scrolling change no head.
  const header = useMemo(
    () => <Header pinned={pinned} free={columns} names={arranged(p.rows.columns.keys(), p.columns)} columns={p.columns} arrange={p.arrange} sort={p.sort} onSort={p.onSort} onMenu={p.onMenu} width={total} />,
    [p, columns],
  )

  // The view stays where it is when rows are added or removed above it. This happens only in a table that is followed. In other tables scrollTop is not read
  // here, because reading it makes the browser lay out the page at once.
  const top = useRef({ index: -1, place: 0 })
  useLayoutEffect(() => {
    if (!p.rows.follower) return
    const view = scroller.current!
    const place = Math.floor(view.scrollTop / rowHeight)
    if (place > 0 && p.sort === sorted.current) {
      const now = p.rows.placeOf(top.current.index)
      if (now >= 0 && place === top.current.place) view.scrollTop += (now - place) * rowHeight
    }
    const first = Math.floor(view.scrollTop / rowHeight)
    top.current = { index: p.rows.indexOf(first), place: first }
  })

  // The next page comes before the last row is reached.
  useEffect(() => {
    if (lastRow >= p.rows.length - 40 && p.rows.length > 0 && !progress.failure) void p.rows.load()
  }, [lastRow, p.rows, progress.loading])

  // Who sorts wants to see the first row, not the one that is now where the view was.
  useEffect(() => {
    if (sorted.current !== p.sort && scroller.current) scroller.current.scrollTop = 0
    sorted.current = p.sort
  }, [p.sort])

  useEffect(() => {
    if (p.open >= 0) down.scrollToIndex(p.open)
  }, [p.open])

  // The browser says that something is pasted where its own selection is: in the cell that was clicked, or nowhere in the grid.
  const onPaste = useRef(p.onPaste)
  onPaste.current = p.onPaste
  useEffect(() => {
    const paste = (e: ClipboardEvent) => {
      if (document.activeElement !== scroller.current) return
      e.preventDefault()
      onPaste.current(e.clipboardData?.getData("text/plain") ?? "")
    }
    document.addEventListener("paste", paste)
    return () => document.removeEventListener("paste", paste)
  }, [])

  const show = (s: Selection) => {
    p.select(s)
    down.scrollToIndex(s.row)
    if (s.col >= pinned.length) across.scrollToIndex(s.col - pinned.length)
  }
  /** menu opens the menu of a cell under the pointer, or of the active one for the keyboard. */
  const menu = (e: MouseEvent | KeyboardEvent) => {
    e.preventDefault()
    const head = (e.target as Element).closest<HTMLElement>("[data-head]")
    const cell = (e.target as Element).closest<HTMLElement>("[data-col]")
    const row = cell?.closest<HTMLElement>("[data-row]")
    const at = "clientX" in e && (head || cell) ? { x: e.clientX, y: e.clientY } : undefined
    if (head) return p.onMenu(at!, head.dataset.head)
    if (cell && row) {
      const [r, c] = [Number(row.dataset.row), Math.max(0, Number(cell.dataset.col))]
      const s = area(selection)
      if (r < s.top || r > s.bottom || c < s.left || c > s.right) p.select(single(r, c))
    }
    const active = document.getElementById("active-cell")?.getBoundingClientRect()
    const { left, top } = scroller.current!.getBoundingClientRect()
    p.onMenu(at ?? (active ? { x: active.left + 12, y: active.bottom } : { x: left + 60, y: top + 60 }))
  }
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.target !== scroller.current) return
    if (e.key === "ContextMenu" || (e.key === "F10" && e.shiftKey)) return menu(e)
    const page = Math.max(1, Math.floor((scroller.current!.clientHeight - headHeight) / rowHeight) - 1)
    const next = moved(selection, e, p.rows.length, all.length, page)
    if (!next) return p.onKey(e)
    e.preventDefault()
    if (e.key === "a" || e.key === " ") p.select(next)
    else show(next)
  }
  const onPointer = (e: PointerEvent) => {
    const cell = (e.target as Element).closest<HTMLElement>("[data-col]")
    const row = (e.target as Element).closest<HTMLElement>("[data-row]")
    if (!cell || !row || e.button !== 0) return
    const r = Number(row.dataset.row)
    const c = Number(cell.dataset.col)
    if (c < 0) {
      const from = e.shiftKey ? selection.anchorRow : r
      p.select({ row: r, col: all.length - 1, anchorRow: from, anchorCol: 0 })
    } else p.select(e.shiftKey ? extended(selection, r, c) : single(r, c))
    if (e.shiftKey) e.preventDefault() // the browser would select text
  }
  // A cell gets the type of its value as a title when the mouse comes to it: thousands of titles cost time while scrolling.
  const name = (e: PointerEvent) => {
    const cell = (e.target as Element).closest<HTMLElement>('[role="gridcell"]')
    const row = cell?.closest<HTMLElement>("[data-row]")
    if (cell && row) cell.title = p.rows.at(Number(row.dataset.row))?.values.get(all[Number(cell.dataset.col)]?.name ?? "")?.type ?? ""
  }
  const range = area(selection)
  const edited = p.editor && all[selection.col]
  return (
    <div
      id="grid"
      class="grid"
      ref={scroller}
      role="grid"
      aria-label="Entities"
      tabIndex={0}
      aria-rowcount={progress.done ? p.rows.length + 1 : -1}
      aria-colcount={all.length + 1}
      aria-multiselectable="true"
      aria-activedescendant="active-cell"
      data-test="grid"
      onKeyDown={onKeyDown}
      onPointerDown={onPointer}
      onPointerOver={name}
      onDblClick={(e) => (e.target as Element).closest("[data-row]") && ((e.target as Element).closest(".gutter") ? p.onOpen(selection.row) : (getSelection()?.removeAllRanges(), p.onEdit()))}
      onContextMenu={menu}
    >
      <div class="canvas" role="presentation" style={{ height: px(down.getTotalSize()), width: px(total) }}>
        {header}
        <div role="rowgroup">
          {inRow.map(({ index, start }, i) => {
            const inside = index >= range.top && index <= range.bottom
            const entity = p.rows.at(index)
            return (
              <Row
                key={slots.get(index)}
                index={index}
                top={start}
                width={total}
                entity={entity}
                ends={p.rule && entity ? ends(p.rule, entity, now) : ""}
                badge={badge}
                mark={p.rows.follower?.marks.get(p.rows.indexOf(index))}
                pinned={pinned}
                columns={columns}
                late={i >= share || (lastAcross.moving && (index < lastDown.startIndex || index > lastDown.endIndex))}
                zone={zone}
                from={inside ? range.left : 0}
                to={inside ? range.right : -1}
                active={index === selection.row ? selection.col : -1}
                open={index === p.open}
              />
            )
          })}
        </div>
        {edited && <div role="row">{p.editor!(edited.left, headHeight + selection.row * rowHeight, edited.width)}</div>}
      </div>
    </div>
  )
}

/** place puts columns beside each other. */
function place(names: string[], columns: Columns, rows: Rows, zone: Zone, badge: string): Column[] {
  let left = gutter
  return names.map((name, at) => {
    const c = { name, at, left, width: widthOf(name, columns, rows, zone) + (name === badge && !columns.widths[name] ? badgeWidth : 0), types: [...(rows.columns.get(name) ?? [])], after: rows.places.get(name)?.after ?? 0 }
    left += c.width
    return c
  })
}
