// The heat map: which keys were busy when. The mouse and the arrows move in it, a drag or Shift selects, a click or Enter opens keys in the grid.
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { look } from "../model/settings.ts"
import { useStore } from "../model/store.ts"
import { count } from "../model/words.ts"
import { useMedia } from "../ui/shell.ts"
import { moment } from "../wire/date.ts"
import { type Area, type Matrix, most, sumOf } from "./matrix.ts"
import { type Cell, type Size, cellAt } from "./frame.ts"
import { cells, css, paint, shade } from "./paint.ts"
import { rangeName, rangeOf } from "./range.ts"
import { type Metric, type Start, verbs } from "./report.ts"

interface Props {
  m: Matrix
  metric: Metric
  starts: Start[]
  area: Area
  /** zoom shows a part; undefined shows all */
  zoom: (a: Area | undefined) => void
  open: (top: number, bottom: number) => void
}

export function Heat({ m, metric, starts, area, zoom, open }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const [size, setSize] = useState<Size>({ width: 0, height: 0 })
  const { zone } = useStore(look)
  const dark = useDark()
  const [chosen, setChosen] = useState<Chosen>()
  const now = chosen && moved(chosen, m, starts, area)
  const [from, to] = [now?.from, now?.to]
  const choose = (to?: Cell, from?: Cell) => setChosen(to && { from, to, m, starts })
  const [pressed, setPressed] = useState(false)
  const max = useMemo(() => most(m, area), [m, area])
  const picture = useMemo(() => cells(m, area, max, dark), [m, area, max, dark])
  const selected = to && areaOf(from ?? to, to)

  useEffect(() => {
    const element = canvas.current!
    const observer = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  useEffect(() => {
    if (size.width) paint(canvas.current!, picture, m, area, starts, size, zone, selected)
  }, [picture, starts, size, zone, chosen])

  const under = (e: PointerEvent) => cellAt(e.offsetX, e.offsetY, size, area)
  const finish = (a: Area) => {
    choose()
    if (a.left === a.right && a.top === a.bottom) open(a.top, a.bottom)
    else zoom(a)
  }
  const onKeyDown = (e: KeyboardEvent) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], Home: [-1e6, 0], End: [1e6, 0], PageUp: [0, -16], PageDown: [0, 16] }[e.key]
    if (step) {
      const here = to ?? { column: area.right, range: area.top }
      const within = (n: number, low: number, high: number) => Math.min(high, Math.max(low, n))
      const next = to ? { column: within(here.column + step[0]!, area.left, area.right), range: within(here.range + step[1]!, area.top, area.bottom) } : here
      choose(next, e.shiftKey ? (from ?? here) : undefined)
    } else if (e.key === "Enter" && selected) finish(selected)
    else if (e.key === "Escape") (choose(), zoom(undefined))
    else return
    e.preventDefault()
  }
  return (
    <div class="heat">
      <canvas
        ref={canvas}
        class={m.ranges === 1 ? "single" : ""}
        tabIndex={0}
        role="application"
        aria-label={`Heat map of entities ${verbs[metric]}, keys by time. Arrows move, Shift with arrows selects, Enter opens the keys of a cell or zooms into a selection, Escape shows all. The table below has the same figures.`}
        data-test="heat"
        onPointerDown={(e) => {
          if (e.button !== 0) return
          canvas.current!.setPointerCapture(e.pointerId)
          setPressed(true)
          choose(under(e), under(e))
        }}
        onPointerMove={(e) => choose(under(e), from)}
        onPointerUp={() => {
          setPressed(false)
          if (pressed && selected) finish(selected)
        }}
        onPointerCancel={() => (setPressed(false), choose(to))}
        onPointerLeave={() => !pressed && choose()}
        onKeyDown={onKeyDown}
      />
      <p class="cellname" aria-live="polite" data-test="heat-cell">
        {selected ? describe(m, selected, starts, metric, zone) : <span class="dim">{count(sumOf(m, area))} {verbs[metric]} in what is shown.{m.ranges > 1 && " A row is a range of keys: with a bar beside it a part of one partition, with dots any number of partitions. Busy keys have more rows than others."} A click opens the keys in the grid; a drag zooms into keys and time.</span>}
      </p>
      <Legend max={max} dark={dark} what={`${verbs[metric]} in ${m.step === 60_000 ? "a minute" : "a quarter of an hour"}, in one row`} />
    </div>
  )
}

/** Chosen is the cell under the mouse or the keyboard, and where the selection began, in the figures of that time. */
interface Chosen {
  to: Cell
  from: Cell | undefined
  m: Matrix
  starts: Start[]
}

/** moved finds in new figures what was chosen in older ones; undefined if the map does not show it. */
function moved(chosen: Chosen, m: Matrix, starts: Start[], area: Area): { to: Cell; from: Cell | undefined } | undefined {
  if (chosen.m.step !== m.step) return undefined
  const cell = ({ column, range }: Cell) => ({ column: column + (chosen.m.begin - m.begin) / m.step, range: rangeOf(starts, chosen.starts[range]!, range) })
  const inside = ({ column, range }: Cell) => column >= area.left && column <= area.right && range >= area.top && range <= area.bottom
  const to = cell(chosen.to)
  const from = chosen.from && cell(chosen.from)
  return inside(to) && (!from || inside(from)) ? { to, from } : undefined
}

function areaOf(a: Cell, b: Cell): Area {
  return { left: Math.min(a.column, b.column), right: Math.max(a.column, b.column), top: Math.min(a.range, b.range), bottom: Math.max(a.range, b.range) }
}

/** describe says what a part of the map has, in words. */
function describe(m: Matrix, a: Area, starts: Start[], metric: Metric, zone: "utc" | "local"): string {
  let sum = 0
  for (let r = a.top; r <= a.bottom; r++) for (let c = a.left; c <= a.right; c++) sum += m.counts[r * m.columns + c]!
  const [begin, end] = [m.begin + a.left * m.step, m.begin + (a.right + 1) * m.step]
  return `${moment(begin, zone)} to ${moment(end, zone).slice(11)}, ${rangeName(starts, a.top, a.bottom)}: ${count(sum)} ${verbs[metric]}`
}

/** Legend shows the colours of powers of ten, since they are logarithmic. */
function Legend({ max, dark, what }: { max: number; dark: boolean; what: string }) {
  const steps = [1]
  while (steps.at(-1)! * 10 < max) steps.push(steps.at(-1)! * 10)
  if (max > 1) steps.push(max)
  return (
    <div class="legend" data-test="legend" aria-label="Colours, logarithmic" role="group">
      {max > 0 ? (
        steps.map((n) => (
          <span key={n}>
            <i style={{ background: css(shade(n, max, dark)) }} />
            {count(n)}
          </span>
        ))
      ) : (
        <span class="dim">Nothing was counted here.</span>
      )}
      {max > 0 && <span class="dim">{what}</span>}
    </div>
  )
}

const system = typeof matchMedia === "undefined" ? undefined : matchMedia("(prefers-color-scheme: dark)")

/** useDark follows the page's theme and that of the system. */
function useDark(): boolean {
  const { theme } = useStore(look)
  const night = useMedia(system)
  return theme === "dark" || (theme === "auto" && night)
}
