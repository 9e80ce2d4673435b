// A menu at a point, for the right button of the mouse and for the menu key. Arrows move in it.
import type { ComponentChildren } from "preact"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import { px } from "./row.tsx"

export interface Point {
  x: number
  y: number
}

export function Popup({ at, label, close, children }: { at: Point; label: string; close: () => void; children: ComponentChildren }) {
  const panel = useRef<HTMLDivElement>(null)
  const choices = () => [...panel.current!.querySelectorAll<HTMLElement>("button:enabled")]
  useLayoutEffect(() => {
    const { style, offsetWidth, offsetHeight } = panel.current!
    style.left = px(Math.max(4, Math.min(at.x, innerWidth - offsetWidth - 4)))
    style.top = px(Math.max(4, Math.min(at.y, innerHeight - offsetHeight - 4)))
    choices()[0]?.focus({ preventScroll: true })
  }, [at])
  useEffect(() => {
    const outside = (e: Event) => panel.current?.contains(e.target as Node) || close()
    document.addEventListener("pointerdown", outside)
    document.addEventListener("scroll", outside, true)
    window.addEventListener("resize", close)
    return () => {
      document.removeEventListener("pointerdown", outside)
      document.removeEventListener("scroll", outside, true)
      window.removeEventListener("resize", close)
    }
  }, [close])
  const onKeyDown = (e: KeyboardEvent) => {
    const list = choices()
    const i = list.indexOf(document.activeElement as HTMLElement)
    const to = { ArrowDown: i + 1, ArrowUp: i + list.length - 1, Home: 0, End: list.length - 1 }[e.key]
    if (e.key === "Escape" || e.key === "Tab") close()
    else if (to !== undefined) list[to % list.length]?.focus()
    else return
    e.preventDefault()
    e.stopPropagation()
  }
  return (
    <div class="panel popup" ref={panel} role="group" aria-label={label} data-test="popup" onKeyDown={onKeyDown} onContextMenu={(e) => e.preventDefault()}>
      <div class="choices">{children}</div>
    </div>
  )
}
