// TanStack virtual-core as a hook: which rows or columns are in view.
import { Virtualizer, elementScroll, observeElementOffset, observeElementRect } from "@tanstack/virtual-core"
import type { RefObject } from "preact"
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import { useAgain } from "../model/store.ts"
import { reuse } from "./reuse.ts"

interface Options {
  count: number
  size: (i: number) => number
  scroller: RefObject<HTMLElement | null>
  horizontal?: boolean
  /** number of rows or columns to draw before and after those in view */
  overscan: number
  /** space before the first, in which headers stick */
  before?: number
  /** changes when sizes do */
  measure?: unknown
}

type Virtual = Virtualizer<HTMLElement, Element>

/** Last is what a virtualizer listed in the last frame. */
interface Last {
  startIndex: number
  endIndex: number
  /** near: the overscan is drawn too */
  near: boolean
  /** jumps is 1 if all that is in view is new, and 2 if a jump followed so quickly that the overscan was not drawn */
  jumps: number
  /** moving: it began with another row or column since the grid began to scroll */
  moving: boolean
}

/**
 * useVirtual returns the virtualizer of the rows, or of the columns. Usually it also lists `overscan` rows before and after those in view. In the first
 * frame, and in the first frame after a jump, all rows in view are new: such a frame has only these, and the others follow two frames later.
 */
export function useVirtual({ count, size, scroller, horizontal = false, overscan, before = 0, measure }: Options): [Virtual, Last] {
  const again = useAgain()
  const options = {
    count,
    estimateSize: size,
    getScrollElement: () => scroller.current,
    horizontal,
    overscan: 0,
    scrollPaddingStart: before,
    paddingStart: before,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => again(),
  }
  const [virtual] = useState(() => new Virtualizer<HTMLElement, Element>(options))
  virtual.setOptions(options)
  const last = useRef<Last>({ startIndex: 0, endIndex: Infinity, near: false, jumps: 0, moving: false })
  const view = virtual.calculateRange()
  if (view) {
    const { startIndex, endIndex, near, moving } = last.current
    const jumped = view.startIndex > endIndex || view.endIndex < startIndex
    last.current = { ...view, near: near && !jumped, jumps: jumped ? (near ? 1 : 2) : 0, moving: virtual.isScrolling && (moving || view.startIndex !== startIndex) }
    virtual.setOptions({ ...options, overscan: last.current.near ? overscan : 0 })
  }
  useLayoutEffect(() => virtual._didMount(), [])
  useLayoutEffect(() => virtual._willUpdate())
  useLayoutEffect(() => virtual.measure(), [measure])
  useEffect(() => {
    if (last.current.near || !count) return
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(() => {
        last.current.near = true
        again()
      })
    })
    return () => cancelAnimationFrame(frame)
  })
  return [virtual, last.current]
}

/** useSlots returns for each row or column the number of the element that shows it. */
export function useSlots<K>(keys: K[]): ReadonlyMap<K, number> {
  const slots = useRef(new Map<K, number>())
  const made = useRef(0)
  return (slots.current = reuse(slots.current, keys, () => made.current++))
}

/**
 * useShare returns how many of the rows in view may draw their columns in this frame. After a jump sideways all columns are new, and while one drags all
 * rows are: drawing all their cells takes longer than a refresh of the screen, so the rows take turns in the frames after it.
 */
export function useShare(columns: unknown[], rows: number, down: Last, across: Last): number {
  const again = useAgain()
  const share = useRef(Infinity)
  if (across.jumps > 0 || down.jumps > 1) share.current = 0
  useEffect(() => {
    if (share.current >= rows || !down.near) return
    const frame = requestAnimationFrame(() => {
      share.current += turn(columns)
      again()
    })
    return () => cancelAnimationFrame(frame)
  })
  return share.current
}

/** turn is how many rows draw all their cells in one frame: about 60 cells. */
const turn = (columns: unknown[]) => 60 / (columns.length + 1)
