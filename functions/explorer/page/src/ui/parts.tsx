// Small parts that everything uses: menus, dialogs, the line for errors.
import type { ComponentChildren } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import { copy } from "../model/copy.ts"
import { Failure } from "../wire/failure.ts"

/** Menu is a button that opens a panel below it. */
export function Menu({ label, test, title, children }: { label: string; test: string; title?: string; children: (close: () => void) => ComponentChildren }) {
  const [open, setOpen] = useState(false)
  const place = useRef<HTMLDivElement>(null)
  const close = () => {
    setOpen(false)
    place.current?.querySelector("button")?.focus()
  }
  useEffect(() => {
    if (!open) return
    const outside = (e: Event) => {
      if (!place.current?.contains(e.target as Node)) setOpen(false)
    }
    document.addEventListener("pointerdown", outside)
    return () => document.removeEventListener("pointerdown", outside)
  }, [open])
  return (
    <div class="menu" ref={place} onKeyDown={(e) => e.key === "Escape" && open && (e.stopPropagation(), close())}>
      <button type="button" aria-expanded={open} aria-haspopup="true" title={title} data-test={test} onClick={() => setOpen(!open)}>
        {label} <span aria-hidden="true" class="dim">▾</span>
      </button>
      {open && <div class="panel">{children(close)}</div>}
    </div>
  )
}

/** Dialog is modal; Escape closes it. */
export function Dialog({ title, close, children, test }: { title: string; close: () => void; children: ComponentChildren; test?: string }) {
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement
    element.current?.showModal()
    return () => before instanceof HTMLElement && before.focus({ preventScroll: true })
  }, [])
  return (
    <dialog ref={element} aria-label={title} data-test={test} onCancel={(e) => (e.preventDefault(), close())} onClose={close} onKeyDown={(e) => (e.stopPropagation(), e.key === "Escape" && (e.preventDefault(), close()))}>
      <header>
        <h2>{title}</h2>
        <button type="button" class="plain" aria-label="Close" onClick={close}>
          ✕
        </button>
      </header>
      {children}
    </dialog>
  )
}

/** ErrorLine says what went wrong and tries again, by itself if the server said when. */
export function ErrorLine({ failure, retry, children }: { failure: Error; retry?: (() => void) | undefined; children?: ComponentChildren }) {
  const wait = failure instanceof Failure ? failure.retryAfter : undefined
  const [left, setLeft] = useState(wait)
  useEffect(() => setLeft(wait), [failure])
  useEffect(() => {
    if (left === undefined || !retry) return
    const timer = setTimeout(() => (left <= 1 ? (setLeft(undefined), retry()) : setLeft(left - 1)), 1000)
    return () => clearTimeout(timer)
  }, [left])
  return (
    <div class="error" role="alert" data-test="error">
      <span>
        {failure.message}
        {failure instanceof Failure && failure.code && <span class="dim"> {failure.status ? `${failure.status} ` : ""}{failure.code}</span>}
      </span>
      {children}
      {retry && (
        <button type="button" data-test="retry" onClick={retry}>
          {left ? `Retry (in ${left} s)` : "Retry"}
        </button>
      )}
    </div>
  )
}

/** CopyButton says for a moment that it copied. */
export function CopyButton({ text, label = "Copy", test }: { text: () => string; label?: string; test?: string }) {
  const [done, setDone] = useState("")
  return (
    <button
      type="button"
      data-test={test}
      onClick={async () => {
        setDone(await copy(text()).then(() => "Copied", () => "Not permitted"))
        setTimeout(() => setDone(""), 1500)
      }}
    >
      <span aria-live="polite">{done || label}</span>
    </button>
  )
}
