// Paints the matrix on a canvas: keys from top to bottom, time from left to right, one hue, darker (or lighter on dark ground) with the logarithm of the count.
import { type Zone, moment } from "../wire/date.ts"
import type { Area, Matrix, Start } from "./matrix.ts"
import { keyName } from "./range.ts"

export interface Cell {
  column: number
  range: number
}

/** Sizes of the canvas in CSS pixels. The cells are right of the gutter and above the foot. */
export interface Size {
  width: number
  height: number
}

const gutter = 190
const foot = 22
const edge = 6

const ramps = {
  light: [[198, 221, 242], [66, 132, 196], [8, 42, 96]],
  dark: [[27, 52, 82], [54, 122, 190], [205, 232, 255]],
} as const

/** shade is the colour of a count. */
export function shade(n: number, max: number, dark: boolean): [number, number, number] {
  const ramp = ramps[dark ? "dark" : "light"]
  const t = max > 1 ? (2 * Math.log(n)) / Math.log(max) : 2
  const i = t < 1 ? 0 : 1
  const mix = (channel: 0 | 1 | 2) => Math.round(ramp[i][channel] + (Math.max(0, t) - i) * (ramp[(i + 1) as 1 | 2][channel] - ramp[i][channel]))
  return [mix(0), mix(1), mix(2)]
}

export const css = ([r, g, b]: readonly number[]) => `rgb(${r}, ${g}, ${b})`

const cellWidth = (s: Size, a: Area) => (s.width - gutter - edge) / (a.right - a.left + 1)
const cellHeight = (s: Size, a: Area) => (s.height - foot - edge) / (a.bottom - a.top + 1)

/** cellAt is the cell at a point; outside, the nearest one. */
export function cellAt(x: number, y: number, s: Size, a: Area): Cell {
  const within = (n: number, from: number, to: number) => Math.min(to, Math.max(from, n))
  return {
    column: within(a.left + Math.floor((x - gutter) / cellWidth(s, a)), a.left, a.right),
    range: within(a.top + Math.floor((y - edge) / cellHeight(s, a)), a.top, a.bottom),
  }
}

/** boxOf is where an area is on the canvas. */
function boxOf(b: Area, s: Size, a: Area): [number, number, number, number] {
  const [w, h] = [cellWidth(s, a), cellHeight(s, a)]
  return [gutter + (b.left - a.left) * w, edge + (b.top - a.top) * h, (b.right - b.left + 1) * w, (b.bottom - b.top + 1) * h]
}

/** paint draws an area of the matrix, whose cells are in a picture, with its labels and a frame around what is selected. */
export function paint(canvas: HTMLCanvasElement, picture: HTMLCanvasElement, m: Matrix, a: Area, starts: Start[], s: Size, zone: Zone, selected: Area | undefined) {
  const ratio = devicePixelRatio || 1
  canvas.width = Math.round(s.width * ratio)
  canvas.height = Math.round(s.height * ratio)
  const ctx = canvas.getContext("2d")
  if (!ctx) return
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0)
  const style = getComputedStyle(canvas)
  const [x, y, width, height] = boxOf(a, s, a)
  ctx.imageSmoothingEnabled = false
  ctx.drawImage(picture, x, y, width, height)
  ctx.strokeStyle = style.borderColor
  ctx.strokeRect(x - 0.5, y - 0.5, width + 1, height + 1)
  ctx.font = `11px ${style.fontFamily}`
  ctx.fillStyle = style.color
  keys(ctx, a, starts, s)
  times(ctx, m, a, s, zone)
  if (selected) {
    ctx.strokeStyle = style.outlineColor
    ctx.lineWidth = 2
    const [sx, sy, sw, sh] = boxOf(selected, s, a)
    ctx.strokeRect(sx - 1, sy - 1, sw + 2, sh + 2)
  }
}

/** cells is a picture with one pixel a cell. */
export function cells(m: Matrix, a: Area, max: number, dark: boolean): HTMLCanvasElement {
  const picture = document.createElement("canvas")
  picture.width = a.right - a.left + 1
  picture.height = a.bottom - a.top + 1
  const data = new ImageData(picture.width, picture.height)
  let i = 0
  for (let r = a.top; r <= a.bottom; r++)
    for (let c = a.left; c <= a.right; c++, i += 4) {
      const n = m.counts[r * m.columns + c]!
      if (n > 0) data.data.set([...shade(n, max, dark), 255], i)
    }
  picture.getContext("2d")?.putImageData(data, 0, 0)
  return picture
}

/** keys writes the keys at which ranges start, as many as there is room for. */
function keys(ctx: CanvasRenderingContext2D, a: Area, starts: Start[], s: Size) {
  ctx.textAlign = "right"
  ctx.textBaseline = "top"
  const h = cellHeight(s, a)
  const every = Math.ceil(15 / h)
  for (let r = a.top; r <= a.bottom; r += every) {
    const y = edge + (r - a.top) * h
    if (y < s.height - foot - 10) ctx.fillText(shorten(ctx, keyName(starts[r])), gutter - 8, y)
  }
}

function shorten(ctx: CanvasRenderingContext2D, text: string): string {
  const fits = (t: string) => ctx.measureText(t).width <= gutter - 14
  if (fits(text)) return text
  let n = Math.min(text.length, 60)
  while (n > 1 && !fits(text.slice(0, n) + "…")) n--
  return text.slice(0, n) + "…"
}

/** times writes full hours or days below the cells, or what else fits. */
function times(ctx: CanvasRenderingContext2D, m: Matrix, a: Area, s: Size, zone: Zone) {
  ctx.textAlign = "left"
  ctx.textBaseline = "bottom"
  const w = cellWidth(s, a)
  const least = 64 / w // columns that a text needs
  const every = [1, 5, 10, 15, 20, 30, 60, 120, 180, 360, 720, 1440].map((minutes) => (minutes * 60_000) / m.step).find((n) => n >= least && Number.isInteger(n)) ?? Math.ceil(least)
  const days = every * m.step >= 6 * 3_600_000
  for (let c = a.left; c <= a.right; c++) {
    const at = m.begin + c * m.step
    if (Math.floor(at / m.step) % every !== 0 || (c - a.left) * w > s.width - gutter - 60) continue
    const x = gutter + (c - a.left) * w
    ctx.fillRect(x, s.height - foot, 1, 4)
    ctx.fillText(days ? moment(at, zone).slice(5, 16) : moment(at, zone).slice(11, 16), x, s.height - 3)
  }
}
