// A line between two parts of the page that is dragged, or moved with the arrows, to make one of them wider. The width is remembered.
import { useState } from "preact/hooks"
import { read, write } from "../model/settings.ts"

interface Props {
  label: string
  width: number
  set: (width: number) => void
  /** after: the part is right of the line */
  after?: boolean
}

const least = 180

/** useWidth is the width of a part, which is remembered by name. */
export function useWidth(name: string, otherwise: number): [number, (width: number) => void] {
  const [width, setWidth] = useState(() => read("width." + name, otherwise))
  return [
    width,
    (w) => {
      const kept = Math.round(Math.max(least, Math.min(w, innerWidth * 0.7)))
      write("width." + name, kept)
      setWidth(kept)
    },
  ]
}

export function Splitter({ label, width, set, after = false }: Props) {
  const sign = after ? -1 : 1
  const drag = (e: PointerEvent) => {
    e.preventDefault()
    const handle = e.currentTarget as HTMLElement
    const begin = e.clientX
    handle.setPointerCapture(e.pointerId)
    handle.onpointermove = (m) => set(width + sign * (m.clientX - begin))
    handle.onpointerup = handle.onlostpointercapture = () => (handle.onpointermove = null)
  }
  const onKeyDown = (e: KeyboardEvent) => {
    const step = { ArrowLeft: -20, ArrowRight: 20 }[e.key]
    if (!step) return
    e.preventDefault()
    set(width + sign * step)
  }
  return (
    <div class="splitter" role="separator" aria-orientation="vertical" aria-label={label} aria-valuenow={width} aria-valuemin={least} aria-valuemax={4000} tabIndex={0} onPointerDown={drag} onKeyDown={onKeyDown} />
  )
}
