// Edits a value where it stands. Enter saves and moves down, Tab to the next column, Escape leaves it as it was; F2 goes to the type and back.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import type { Change } from "../wire/changes.ts"
import { exact } from "../wire/date.ts"
import { type Type, type Value, check, types } from "../wire/value.ts"
import { first } from "../query/builder.ts"
import { unsavedTexts } from "../model/draft.ts"
import { plural } from "../model/words.ts"
import { Lines } from "./lines.tsx"
import { newerWords } from "./merge.tsx"
import { px } from "./row.tsx"
import { lose } from "./work.ts"

/** Where the keyboard goes after a value is saved. */
export type Move = "down" | "up" | "right" | "left" | "stay"

interface Props {
  name: string
  value: Value | undefined
  /** typed is what was not saved */
  typed: Value | undefined
  /** type is that of most values of the column */
  type: Type
  left: number
  top: number
  width: number
  /** rows are those that are selected in this column: Ctrl Enter writes to all */
  rows: number
  /** newer is what the entity is by now; compare shows it beside what was typed */
  newer: Change | undefined
  compare: (value: Value) => void
  save: (value: Value, to: Move, all: boolean) => void
  cancel: () => void
}

export function CellEditor({ name, value, typed, type, left, top, width, rows, newer, compare, save, cancel }: Props) {
  const [now, setNow] = useState<Value>(typed ?? value ?? { type, text: first[type] })
  const [tried, setTried] = useState(false)
  const over = useRef(false) // the browser takes the focus away when the editor goes
  const box = useRef<HTMLDivElement>(null)
  const field = () => box.current!.querySelector<HTMLElement & { select?: () => void }>("[data-test='cell-value']")!
  useLayoutEffect(() => {
    field().focus({ preventScroll: true })
    field().select?.()
  }, [now.type])
  useEffect(() => box.current?.scrollIntoView({ block: "nearest", inline: "nearest" }), [])
  const touched = now.text !== (value?.text ?? first[type]) || now.type !== (value?.type ?? type)
  useLayoutEffect(() => {
    if (touched) unsavedTexts.set("cell", now.text)
    return () => void unsavedTexts.delete("cell")
  }, [now, touched])
  const wrong = check(now)
  const done = (to: Move, all = false) => {
    if (wrong) return setTried(true)
    over.current = true
    save(now.type === "DateTime" ? { ...now, text: exact(now.text) } : now, to, all)
  }
  const onKeyDown = (e: KeyboardEvent) => {
    e.stopPropagation()
    const far = e.ctrlKey || e.metaKey
    if (e.key === "Enter" && !e.altKey && !(e.shiftKey && now.type === "String")) done(far ? "stay" : e.shiftKey ? "up" : "down", far)
    else if (e.key === "Enter" && e.altKey) return // a new line, as in spreadsheets; Shift does too
    else if (e.key === "Tab") done(e.shiftKey ? "left" : "right")
    else if (e.key === "Escape") {
      over.current = true
      cancel()
    }
    else if (e.key === "F2") {
      const select = box.current!.querySelector("select")!
      if (document.activeElement === select) field().focus()
      else select.focus()
    } else return
    e.preventDefault()
  }
  const leave = (e: FocusEvent) => {
    // A click elsewhere saves what is right; what is wrong stays open.
    if (over.current || box.current?.contains(e.relatedTarget as Node)) return
    if (!touched) cancel()
    else if (!wrong) done("stay")
  }
  // An editor that goes, because its table or its rows do, saves what is right, too, and says what is wrong.
  const gone = useRef(() => {})
  gone.current = () => {
    if (over.current || !touched) return
    over.current = true
    if (wrong) lose(`${name}: ${wrong}. Nothing is saved: ${now.text}`)
    else done("stay")
  }
  useLayoutEffect(() => () => gone.current(), [])
  const common = { "aria-label": `Value of ${name}`, "aria-invalid": !!wrong && (tried || now.text !== first[now.type]), "data-test": "cell-value", spellcheck: false }
  return (
    <div role="gridcell" class="celleditor" ref={box} data-test="cell-editor" style={{ left: px(left), top: px(top), minWidth: px(Math.max(width, 220)) }} onKeyDown={onKeyDown} onFocusOut={leave} onPointerDown={(e) => e.stopPropagation()} onDblClick={(e) => e.stopPropagation()}>
      <div class="pair">
        {now.type === "Boolean" ? (
          <select {...common} value={now.text} onChange={(e) => setNow({ ...now, text: e.currentTarget.value })}>
            {now.text !== "true" && now.text !== "false" && <option>{now.text}</option>}
            <option>true</option>
            <option>false</option>
          </select>
        ) : now.type === "String" ? (
          <Lines {...common} rows={1} text={now.text} set={(text) => setNow({ ...now, text })} />
        ) : (
          <input {...common} class="mono" value={now.text} placeholder={now.type === "DateTime" ? "2026-03-04T05:06:07Z" : ""} onInput={(e) => setNow({ ...now, text: e.currentTarget.value.trim() })} />
        )}
        <select aria-label={`Type of ${name}`} value={now.type} data-test="cell-type" onChange={(e) => setNow({ type: e.currentTarget.value as Type, text: now.text || first[e.currentTarget.value as Type] })}>
          {types.map((t) => (
            <option key={t}>{t}</option>
          ))}
        </select>
      </div>
      {wrong && (tried || now.text !== first[now.type]) && (
        <p class="wrong" role="alert">
          {wrong}
        </p>
      )}
      {newer && (
        <p class="note" role="status" data-test="cell-newer">
          {newerWords(newer)}{" "}
          <button type="button" class="link" data-test="cell-compare" onClick={() => wrong ? setTried(true) : ((over.current = true), compare(now))}>
            Compare
          </button>
        </p>
      )}
      {rows > 1 && (
        <p class="dim">
          <kbd>Ctrl Enter</kbd> writes it to {plural(rows, "selected row")}
        </p>
      )}
    </div>
  )
}
