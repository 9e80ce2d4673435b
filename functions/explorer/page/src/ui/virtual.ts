// TanStack virtual-core as a hook: which rows or columns are in view.
import { Virtualizer, elementScroll, observeElementOffset, observeElementRect } from "@tanstack/virtual-core"
import type { RefObject } from "preact"
import { useLayoutEffect, useReducer, useState } from "preact/hooks"

interface Options {
  count: number
  size: (i: number) => number
  scroller: RefObject<HTMLElement | null>
  horizontal?: boolean
  overscan?: number
  /** space before the first, in which headers stick */
  before?: number
  /** changes when sizes do */
  measure?: unknown
}

type Virtual = Virtualizer<HTMLElement, Element>

export function useVirtual({ count, size, scroller, horizontal = false, overscan = 6, before = 0, measure }: Options): Virtual {
  const [, again] = useReducer((n: number) => n + 1, 0)
  const options = {
    count,
    estimateSize: size,
    getScrollElement: () => scroller.current,
    horizontal,
    overscan,
    scrollPaddingStart: before,
    paddingStart: before,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => again(undefined as never),
  }
  const [virtual] = useState(() => new Virtualizer<HTMLElement, Element>(options))
  virtual.setOptions(options)
  useLayoutEffect(() => virtual._didMount(), [])
  useLayoutEffect(() => virtual._willUpdate())
  useLayoutEffect(() => virtual.measure(), [measure])
  return virtual
}
