// One row of the grid. A row is drawn again only if one of its properties changed. Preact draws the row's own element; the cells are drawn here, because
// hundreds of cells change in each frame while the grid scrolls. The elements of cells are kept, and only what differs is written. The cells that stick at
// the left are in one element: the browser makes a layer for each element that sticks.
import { Component, createRef } from "preact"
import type { Mark } from "../model/followed.ts"
import type { Zone } from "../wire/date.ts"
import type { Entity, Type } from "../wire/value.ts"
import { shown } from "./cell.ts"
import { padding, roomAfter } from "./fit.ts"
import { reuse } from "./reuse.ts"

export interface Column {
  name: string
  at: number // its index among the columns shown
  left: number
  width: number
  /** types of its values; what is not of the first one says so */
  types: Type[]
  /** after is how many digits its Doubles have after the point */
  after: number
}

interface Props {
  index: number
  top: number
  width: number
  entity: Entity | null | undefined
  pinned: Column[]
  columns: Column[]
  zone: Zone
  /** from and to are the columns of this row that are selected; from > to if there are none */
  from: number
  to: number
  active: number // column of the active cell, or -1
  open: boolean
  /** ends is how long the entity still lives, or "", and badge the column that says so */
  ends: string
  badge: string
  /** late: the cells that do not stick are drawn in a later frame */
  late: boolean
  /** mark says which values are new */
  mark: Mark | undefined
}

export const gutter = 56

export const px = (n: number) => `${n}px`

export class Row extends Component<Props> {
  private readonly root = createRef<HTMLDivElement>()
  private readonly pins = part("presentation", "pins")
  private readonly number = new Cell("rowheader")
  private readonly gone = part("gridcell", "cell dim gone")
  private pinned: Cells = new Map()
  private cells: Cells = new Map()
  private moved = false // sideways only: the cells that stay show what they did

  override shouldComponentUpdate(next: Props) {
    const changed = (Object.keys(next) as (keyof Props)[]).filter((name) => next[name] !== this.props[name])
    this.moved = changed.every((name) => name === "columns" || name === "late")
    if (changed.length && !(this.moved && next.late)) this.draw(next, this.props)
    return false // Preact has nothing to draw
  }

  override componentDidMount() {
    this.pins.append(this.number.element)
    this.root.current!.append(this.pins)
    this.draw(this.props)
  }

  override render() {
    return <div role="row" class="row" ref={this.root} />
  }

  /** draw draws what differs from what was drawn before; at first, that is nothing. */
  private draw(p: Props, before?: Props) {
    const row = this.root.current!
    if (p.index !== before?.index) {
      row.ariaRowIndex = String(p.index + 2)
      row.dataset.row = String(p.index)
      this.number.draw({ ...blank, text: String(p.index + 1), kind: "cell gutter" })
    }
    if (p.top !== before?.top) row.style.transform = `translateY(${p.top}px)`
    if (p.width !== before?.width) row.style.width = px(p.width)
    row.ariaSelected = String(p.from <= p.to)
    row.className = p.open ? "row open" : "row"
    this.pinned = this.place(this.pins, this.pinned, this.number.element, p.pinned, p)
    this.cells = this.place(row, this.cells, this.pins, p.entity && !p.late ? p.columns : [], p)
    if (p.entity) this.gone.remove()
    else {
      this.gone.textContent = p.entity === null ? "deleted" : "…"
      row.append(this.gone)
    }
  }

  /** place draws the cells of the columns into an element, in this order, after the element `after`. */
  private place(into: HTMLElement, old: Cells, after: HTMLElement, columns: Column[], p: Props): Cells {
    const cells = reuse(old, columns.map((c) => c.name), () => new Cell("gridcell"))
    // A cell that now shows another column has another place. Only if all columns are new, the cells stand in the right order already.
    const stays = columns.some((c) => old.has(c.name))
    let n = 0
    for (const [name, cell] of old) if (stays ? cells.get(name) !== cell : n++ >= columns.length) cell.element.remove()
    for (const c of columns) {
      const cell = cells.get(c.name)!
      if (!this.moved || cell.column !== c) cell.draw(lookOf(c, p))
      cell.column = c
      if (after.nextSibling !== cell.element) into.insertBefore(cell.element, after.nextSibling)
      after = cell.element
    }
    return cells
  }
}

type Cells = Map<string, Cell>

/** Look is what a cell shows, and where. */
interface Look {
  text: string
  kind: string
  left: number
  width: number
  /** room is the free space at the right, in pixels, which puts the decimal points of Doubles below each other */
  room: number
  at: number
  active: boolean
  /** other is the type of the value if most values of the column have another type */
  other: string
  ends: string
}

const blank: Look = { text: "", kind: "", left: 0, width: gutter, room: 0, at: -1, active: false, other: "", ends: "" }

function lookOf({ name, at, left, width, types, after }: Column, { entity, zone, from, to, active, mark, badge, ends }: Props): Look {
  const value = entity?.values.get(name)
  const { text, look } = shown(value, zone)
  const other = value && types[0] && value.type !== types[0] ? value.type : ""
  const room = !other && value?.type === "Double" ? roomAfter(text, after, width) : 0
  const own = name === badge ? ends : ""
  let kind = "cell"
  if (look) kind += " " + look
  if (text.length * (look ? 8 : 14) > width - padding || /[^ -~]/.test(text)) kind += " long" // pixels of a digit, and of a wide letter of ASCII
  if (other) kind += " other"
  if (at >= from && at <= to) kind += " selected"
  if (at === active) kind += " active"
  if (mark && (!mark.names || mark.names.has(name))) kind += ` fresh${mark.turn % 2}` // another name each time, so that it begins again
  if (own) kind += own === "ended" ? " ending over" : " ending"
  return { text, kind, left, width, room, at, active: at === active, other, ends: own }
}

/** Cell is a cell of the grid. It keeps its element and what the element shows, and writes only the differences. */
class Cell {
  readonly element: HTMLElement
  column: Column | undefined
  private readonly text = document.createTextNode("")
  private shown: Partial<Look> = {}

  constructor(role: string) {
    this.element = part(role, "")
    this.element.append(this.text)
  }

  draw(next: Look) {
    const { element, shown } = this
    this.shown = next
    if (next.text !== shown.text) {
      this.text.data = next.text
      if (element.title) element.title = "" // the title was the type of the previous value
    }
    if (next.kind !== shown.kind) element.className = next.kind
    if (next.left !== shown.left) element.style.left = px(next.left)
    if (next.width !== shown.width) element.style.width = px(next.width)
    if (next.room !== (shown.room ?? 0)) element.style.paddingRight = next.room ? px(next.room + 10) : ""
    if (next.at !== shown.at) {
      element.dataset.col = String(next.at)
      if (next.at >= 0) element.ariaColIndex = String(next.at + 2)
    }
    if (next.active !== (shown.active ?? false)) element.id = next.active ? "active-cell" : ""
    if (next.other !== (shown.other ?? "")) {
      if (next.other) element.dataset.type = next.other
      else delete element.dataset.type
    }
    if (next.ends !== (shown.ends ?? "")) element.replaceChildren(this.text, ...(next.ends ? [badgeOf(next.ends)] : []))
  }
}

function badgeOf(ends: string): HTMLElement {
  const badge = document.createElement("span")
  badge.className = "ends"
  badge.dataset.test = "row-ends"
  if (ends !== "ended") {
    const unseen = badge.appendChild(document.createElement("span"))
    unseen.className = "unseen"
    unseen.textContent = " ends in "
  }
  badge.append(ends)
  return badge
}

function part(role: string, kind: string): HTMLElement {
  const element = document.createElement("div")
  element.setAttribute("role", role)
  element.className = kind
  return element
}
