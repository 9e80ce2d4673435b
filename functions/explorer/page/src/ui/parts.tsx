// Small parts that everything uses: menus, dialogs, the line for errors, what stands where nothing is.
import type { ComponentChildren } from "preact"
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import { copy } from "../model/copy.ts"
import { Failure } from "../wire/failure.ts"
import { Icon, type IconName } from "./icon.tsx"
import { px } from "./row.tsx"

interface MenuProps {
  label: string
  icon: IconName
  /** bare shows the icon alone */
  bare?: boolean
  test: string
  title?: string
  children: (close: () => void) => ComponentChildren
}

/** Menu is a button that opens a panel below it, which stays within the window. */
export function Menu({ label, icon, bare, test, title, children }: MenuProps) {
  const [open, setOpen] = useState(false)
  const place = useRef<HTMLDivElement>(null)
  const panel = useRef<HTMLDivElement>(null)
  const close = () => {
    setOpen(false)
    place.current?.querySelector("button")?.focus()
  }
  useLayoutEffect(() => {
    if (!panel.current) return
    const { left } = panel.current.getBoundingClientRect()
    if (left < 8) panel.current.style.translate = px(8 - left)
  }, [open])
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
      <button type="button" aria-expanded={open} aria-haspopup="true" aria-label={bare ? label : undefined} title={title ?? label} data-test={test} onClick={() => setOpen(!open)}>
        <Icon name={icon} />
        {!bare && <span class="label">{label}</span>}
      </button>
      {open && (
        <div class="panel" ref={panel}>
          {children(close)}
        </div>
      )}
    </div>
  )
}

/** Choice is a line of a menu. */
export function Choice({ icon, test, danger, act, children }: { icon: IconName; test: string; danger?: boolean; act: () => void; children: ComponentChildren }) {
  return (
    <button type="button" class={danger ? "choice danger" : "choice"} data-test={test} onClick={act}>
      <Icon name={icon} />
      {children}
    </button>
  )
}

/** Tabs choose one of a few things, whose names are the keys of choices. */
export function Tabs<T extends string>({ label, test, choices, titles, now, choose }: { label: string; test?: string; choices: Record<T, string>; titles?: Record<T, string>; now: string; choose: (one: T) => void }) {
  return (
    <div class="tabs" role="group" aria-label={label}>
      {(Object.keys(choices) as T[]).map((one) => (
        <button key={one} type="button" aria-pressed={one === now} title={titles?.[one]} data-test={test && `${test}-${one}`} onClick={() => choose(one)}>
          {choices[one]}
        </button>
      ))}
    </div>
  )
}

/** Figures is a table of numbers. */
export function Figures({ heads, test, children }: { heads: string[]; test?: string; children: ComponentChildren }) {
  return (
    <table class="figures" data-test={test}>
      <thead>
        <tr>
          {heads.map((head) => (
            <th key={head}>{head}</th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}

/** Dialog is modal; Escape closes it. */
export function Dialog({ title, close, children, test }: { title: string; close: () => void; children: ComponentChildren; test?: string }) {
  const element = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null
    const dialog = element.current!
    dialog.showModal()
    // Nothing else can have the focus while the dialog is in the page. The next key is for the element that had the focus before.
    return () => (dialog.remove(), before?.focus({ preventScroll: true }))
  }, [])
  return (
    <dialog ref={element} aria-label={title} data-test={test} onCancel={(e) => (e.preventDefault(), close())} onClose={close} onKeyDown={(e) => (e.stopPropagation(), e.key === "Escape" && (e.preventDefault(), close()))}>
      <header>
        <h2>{title}</h2>
        <button type="button" class="plain" aria-label="Close" onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      {children}
    </dialog>
  )
}

/** sentence begins with a capital letter, unless the first word is a name. */
const sentence = (s: string) => s.replace(/^(the|this|a|an|no|it|there|nothing) /, (word) => word[0]!.toUpperCase() + word.slice(1))

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
      <Icon name="warning" />
      <span>
        {sentence(failure.message)}
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
export function CopyButton({ text, label = "Copy", bare, test }: { text: () => string; label?: string; bare?: boolean; test?: string }) {
  const [done, setDone] = useState("")
  return (
    <button
      type="button"
      data-test={test}
      title={label}
      onClick={async () => {
        setDone(await copy(text()).then(() => "Copied", () => "Not permitted"))
        setTimeout(() => setDone(""), 1500)
      }}
    >
      <Icon name={done === "Copied" ? "check" : "copy"} />
      <span class={bare ? "unseen" : ""} aria-live="polite">
        {done || label}
      </span>
    </button>
  )
}

/** Empty says why nothing is here, and offers the next step. */
export function Empty({ icon, title, text, children }: { icon: IconName; title: string; text?: string; children?: ComponentChildren }) {
  return (
    <div class="empty" data-test="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {text && <p>{text}</p>}
      {children && <div class="actions">{children}</div>}
    </div>
  )
}
