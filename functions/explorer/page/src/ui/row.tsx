// One row of the grid. It is drawn again only if something of it changed: scrolling adds rows and leaves the others alone. What sticks at the
// left is one element, since each element that sticks is a layer of its own to the browser.
import { Component } from "preact"
import type { Mark } from "../model/followed.ts"
import type { Zone } from "../wire/date.ts"
import type { Entity, Type } from "../wire/value.ts"
import { shown } from "./cell.ts"
import { roomAfter } from "./fit.ts"

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
  /** mark says which values are new */
  mark: Mark | undefined
}

export const gutter = 56

export const px = (n: number) => `${n}px`

export class Row extends Component<Props> {
  override shouldComponentUpdate(next: Props) {
    for (const name in next) if (next[name as keyof Props] !== this.props[name as keyof Props]) return true
    return false
  }

  override render({ index, top, width, entity, pinned, columns, from, to, open }: Props) {
    return (
      <div role="row" aria-rowindex={index + 2} aria-selected={from <= to} class={open ? "row open" : "row"} style={{ transform: `translateY(${top}px)`, width: px(width) }} data-row={index}>
        <div role="presentation" class="pins">
          <div role="rowheader" class="cell gutter" data-col={-1}>
            {index + 1}
          </div>
          {pinned.map((c) => this.cell(c))}
        </div>
        {entity ? (
          columns.map((c) => this.cell(c))
        ) : (
          <div role="gridcell" class="cell dim gone">
            {entity === null ? "deleted" : "…"}
          </div>
        )}
      </div>
    )
  }

  private cell({ name, at, left, width, types, after }: Column) {
    const { entity, zone, from, to, active, mark } = this.props
    const value = entity?.values.get(name)
    const { text, look } = shown(value, zone)
    let kind = "cell"
    if (look) kind += " " + look
    const other = value && types[0] && value.type !== types[0] ? value.type : undefined
    if (other) kind += " other"
    const room = !other && value?.type === "Double" ? roomAfter(text, after, width) : 0
    if (at >= from && at <= to) kind += " selected"
    if (at === active) kind += " active"
    if (mark && (!mark.names || mark.names.has(name))) kind += ` fresh${mark.turn % 2}` // another name each time, so that it begins again
    const ends = name === this.props.badge ? this.props.ends : ""
    if (ends) kind += ends === "ended" ? " ending over" : " ending"
    return (
      <div key={name} role="gridcell" aria-colindex={at + 2} id={at === active ? "active-cell" : undefined} class={kind} style={{ left: px(left), width: px(width), paddingRight: room ? px(room + 10) : undefined }} data-col={at} data-type={other}>
        {text}
        {ends && (
          <span class="ends" data-test="row-ends">
            {ends !== "ended" && <span class="unseen"> ends in </span>}
            {ends}
          </span>
        )}
      </div>
    )
  }
}
