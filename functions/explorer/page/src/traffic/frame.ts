// Where the cells of the heat map are: right of the labels of keys, above those of time.
import type { Area } from "./matrix.ts"

export interface Cell {
  column: number
  range: number
}

/** Size is that of the canvas in CSS pixels. */
export interface Size {
  width: number
  height: number
}

export const foot = 40
export const edge = 6
/** gutterOf is the room for keys: a third of a narrow screen. */
export const gutterOf = (s: Size) => Math.min(190, Math.round(s.width * 0.32))

export const cellWidth = (s: Size, a: Area) => (s.width - gutterOf(s) - edge) / (a.right - a.left + 1)
export const cellHeight = (s: Size, a: Area) => (s.height - foot - edge) / (a.bottom - a.top + 1)

/** cellAt is the cell at a point; outside, the nearest one. */
export function cellAt(x: number, y: number, s: Size, a: Area): Cell {
  const within = (n: number, from: number, to: number) => Math.min(to, Math.max(from, n))
  return {
    column: within(a.left + Math.floor((x - gutterOf(s)) / cellWidth(s, a)), a.left, a.right),
    range: within(a.top + Math.floor((y - edge) / cellHeight(s, a)), a.top, a.bottom),
  }
}

/** boxOf is where an area is on the canvas. */
export function boxOf(b: Area, s: Size, a: Area): [number, number, number, number] {
  const [w, h] = [cellWidth(s, a), cellHeight(s, a)]
  return [gutterOf(s) + (b.left - a.left) * w, edge + (b.top - a.top) * h, (b.right - b.left + 1) * w, (b.bottom - b.top + 1) * h]
}
