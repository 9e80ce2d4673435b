// The axes of the heat map: keys from top to bottom, with a line where a partition ends, and time from left to right, up to now.
import { type Zone, moment } from "../wire/date.ts"
import { type Size, cellHeight, cellWidth, edge, foot, gutterOf } from "./frame.ts"
import type { Area, Matrix } from "./matrix.ts"
import { inOnePartition } from "./range.ts"
import type { Start } from "./report.ts"

type Context = CanvasRenderingContext2D

/** keys writes the keys at which ranges start, as many as there is room for. Of ranges in one partition only the first has its PartitionKey. */
export function keys(ctx: Context, a: Area, starts: Start[], s: Size) {
  ctx.textAlign = "right"
  ctx.textBaseline = "top"
  const h = cellHeight(s, a)
  const gutter = gutterOf(s)
  let free = -Infinity // where the next label has room
  let written: string | undefined
  for (let r = a.top; r <= a.bottom; r++) {
    const start = starts[r]
    const y = edge + (r - a.top) * h
    const begins = r > a.top && start?.PartitionKey !== starts[r - 1]?.PartitionKey
    if (begins && h >= 3) {
      ctx.globalAlpha = 0.25
      ctx.fillRect(gutter, Math.round(y), s.width - gutter - edge, 1)
      ctx.globalAlpha = 1
    }
    ruler(ctx, gutter - 5, y, h, inOnePartition(starts, r))
    if (y < free || y > s.height - foot - 10) continue
    const first = !start || (!start.PartitionKey && !start.RowKey)
    const text = first ? "(first key)" : start.PartitionKey === written && start.RowKey ? `/ ${start.RowKey}` : [start.PartitionKey, start.RowKey].filter(Boolean).join(" / ")
    ctx.fillText(shorten(ctx, text, gutter - 14), gutter - 8, y)
    written = start?.PartitionKey
    free = y + 15
  }
}

/** ruler marks what a row is: a bar is a part of one partition, dots are partitions of which there may be any number. */
function ruler(ctx: Context, x: number, y: number, h: number, one: boolean) {
  ctx.globalAlpha = 0.5
  if (one) ctx.fillRect(x, y, 3, Math.max(h - (h > 4 ? 1 : 0), 0.5))
  else for (let at = Math.ceil(y / 4) * 4; at < y + h; at += 4) ctx.fillRect(x, at, 3, 1)
  ctx.globalAlpha = 1
}

function shorten(ctx: Context, text: string, room: number): string {
  const fits = (t: string) => ctx.measureText(t).width <= room
  if (fits(text)) return text
  let n = Math.min(text.length, 60)
  while (n > 1 && !fits(text.slice(0, n) + "…")) n--
  return text.slice(0, n) + "…"
}

const minutes = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880]

/** times writes full minutes, hours or days below the cells, the date at the first one and where a day begins, and where now is. */
export function times(ctx: Context, m: Matrix, a: Area, s: Size, zone: Zone) {
  const w = cellWidth(s, a)
  const [gutter, y] = [gutterOf(s), s.height - foot]
  ctx.textBaseline = "top"
  ctx.textAlign = "left"
  const least = (ctx.measureText("2026-11-24 00:00").width + 14) / w // columns that a text needs
  const every = minutes.map((n) => (n * 60_000) / m.step).find((n) => n >= least && Number.isInteger(n)) ?? Math.ceil(least)
  const now = a.right === m.columns - 1
  const end = s.width - edge - (now ? ctx.measureText("now").width + 10 : 0)
  let day = ""
  for (let c = a.left; c <= a.right; c++) {
    const at = moment(m.begin + c * m.step, zone) // 2026-11-24 07:00Z, or with an offset
    if (minuteOf(at) % ((every * m.step) / 60_000) !== 0) continue
    const text = at.slice(0, 10) === day ? at.slice(11, 16) : at.slice(0, 16)
    const x = gutter + (c - a.left) * w
    if (x + ctx.measureText(text).width > end) break
    ctx.fillRect(Math.round(x), y, 1, 5)
    ctx.fillText(text, x, y + 7)
    day = at.slice(0, 10)
  }
  if (!day) ctx.fillText(shorten(ctx, moment(m.begin + a.left * m.step, zone).slice(11, 16), end - gutter), gutter, y + 7) // too narrow for a date
  ctx.textAlign = "right"
  if (now) ctx.fillText("now", s.width - edge, y + 7)
  ctx.textAlign = "left"
  ctx.fillText(shorten(ctx, `Time in ${zone === "utc" ? "UTC" : "local time"}, a column is ${m.step === 60_000 ? "a minute" : "a quarter of an hour"}`, s.width - gutter - edge), gutter, y + 24)
  ctx.textAlign = "right"
  const scale = "Keys, not to scale"
  ctx.fillText(ctx.measureText(scale).width < gutter - 8 ? scale : "Keys", gutter - 8, y + 7)
}

/** minuteOf counts the minutes of days in the shown zone, so that full hours and days are those of the clock there. */
const minuteOf = (at: string) => Date.parse(at.slice(0, 10)) / 60_000 + +at.slice(11, 13) * 60 + +at.slice(14, 16)
