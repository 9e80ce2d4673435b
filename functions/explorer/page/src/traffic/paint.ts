// Paints the matrix on a canvas: keys from top to bottom, time from left to right, one hue, darker (or lighter on dark ground) with the logarithm of the count.
import type { Zone } from "../wire/date.ts"
import { keys, times } from "./axes.ts"
import { type Size, boxOf } from "./frame.ts"
import type { Area, Matrix } from "./matrix.ts"
import type { Start } from "./report.ts"

const ramps = {
  light: [[221, 219, 250], [114, 108, 220], [40, 34, 110]],
  dark: [[44, 41, 92], [112, 106, 224], [226, 224, 255]],
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
  if (a.right === m.columns - 1) {
    ctx.fillStyle = style.caretColor
    ctx.fillRect(Math.round(x + width) - 1, y - 3, 2, height + 6)
  }
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
