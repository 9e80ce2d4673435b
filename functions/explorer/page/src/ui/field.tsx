// The editor of one property: its name, its type, and an input that fits the type. Texts stay texts.
import type { Field } from "../model/draft.ts"
import { exact } from "../wire/date.ts"
import { check, system, types, type Type } from "../wire/value.ts"
import { printJSON, readJSON } from "../model/jsontext.ts"
import { propertyProblem } from "../wire/names.ts"
import { Icon } from "./icon.tsx"
import { first } from "../query/builder.ts"
import { Lines } from "./lines.tsx"

interface Props {
  field: Field
  problem: string
  note?: string
  locked: boolean // the keys cannot change
  change: (part: Partial<Field>) => void
  drop: () => void
}

export function FieldRow({ field, problem: found, note, locked, change, drop }: Props) {
  const { name, value, removed, added } = field
  const badName = added && !!propertyProblem(name)
  const problem = added && !name ? "" : found // nothing was typed yet
  const key = system.includes(name) && !added
  const setText = (text: string) => change({ value: { ...value, text } })
  // A text that fits the new type stays; nothing is converted in silence.
  const setType = (type: Type) => change({ value: check({ type, text: value.text }) && !value.text ? { type, text: first[type] } : { type, text: value.text } })
  return (
    <div class={removed ? "field removed" : "field"} data-test="field" data-name={name}>
      <div class="fieldhead">
        {added ? (
          <input list="edit-names" aria-label="Name of the property" placeholder="Name" value={name} aria-invalid={badName && !!name} data-test="field-name" onInput={(e) => change({ name: e.currentTarget.value })} />
        ) : (
          <span class="fieldname">{name}</span>
        )}
        {!key && (
          <select aria-label={`Type of ${name}`} value={value.type} disabled={removed} data-test="field-type" onChange={(e) => setType(e.currentTarget.value as Type)}>
            {types.map((t) => (
              <option key={t}>{t}</option>
            ))}
          </select>
        )}
        {!key && (
          <button type="button" class="plain" aria-label={removed ? `Keep ${name}` : `Remove ${name}`} title={removed ? "Keep it" : "Remove: no value at all (null)"} data-test="field-remove" onClick={() => (added ? drop() : change({ removed: !removed }))}>
            <Icon name={removed ? "undo" : "close"} />
          </button>
        )}
      </div>
      {removed ? <span class="dim">no value (null): the property will be removed</span> : <Input field={field} problem={badName ? "" : problem} locked={locked && key} set={setText} />}
      {problem ? <span class="wrong">{problem}</span> : note && <span class="note">{note}</span>}
    </div>
  )
}

function Input({ field: { name, value }, problem, locked, set }: { field: Field; problem: string; locked: boolean; set: (text: string) => void }) {
  const common = { "aria-label": `Value of ${name}`, "aria-invalid": !!problem, "data-test": "field-value", spellcheck: false, disabled: locked }
  switch (value.type) {
    case "Boolean":
      return (
        <select {...common} value={value.text} onChange={(e) => set(e.currentTarget.value)}>
          {value.text !== "true" && value.text !== "false" && <option>{value.text}</option>}
          <option>true</option>
          <option>false</option>
        </select>
      )
    case "String":
      return <Text key={name} common={common} text={value.text} set={set} />
    case "DateTime":
      return (
        <span class="pair">
          <input {...common} class="mono" placeholder="2026-03-04T05:06:07.1234567Z" value={value.text} onInput={(e) => set(e.currentTarget.value)} onBlur={(e) => set(exact(e.currentTarget.value))} />
          <button type="button" onClick={() => set(new Date().toISOString())}>
            Now
          </button>
        </span>
      )
    case "Guid":
      return (
        <span class="pair">
          <input {...common} class="mono" value={value.text} onInput={(e) => set(e.currentTarget.value)} />
          {!!crypto.randomUUID && (
            <button type="button" onClick={() => set(crypto.randomUUID())}>
              New
            </button>
          )}
        </span>
      )
    case "Binary":
      return (
        <span class="pair">
          <textarea {...common} class="mono" rows={2} placeholder="base64; empty for 0 bytes" value={value.text} onInput={(e) => set(e.currentTarget.value.replace(/\s/g, ""))} />
          <label class="file">
            <Icon name="file" /> File
            <input type="file" aria-label={`File for ${name}`} onChange={async (e) => set(await base64(e.currentTarget.files?.[0]))} />
          </label>
        </span>
      )
    default:
      return <input {...common} class="mono" inputMode="decimal" value={value.text} onInput={(e) => set(e.currentTarget.value.trim())} />
  }
}

/** Text edits a text; JSON in it can be laid out in lines and back, and says where it is broken off. */
function Text({ common, text, set }: { common: Record<string, unknown>; text: string; set: (text: string) => void }) {
  const json = /^\s*[{[]/.test(text)
  const node = json ? readJSON(text) : undefined
  const inLines = text.includes("\n")
  return (
    <>
      <Lines {...common} class={json ? "mono" : ""} rows={Math.min(json ? 16 : 8, text.split(/\r\n?|\n/).length)} placeholder="empty text" text={text} set={set} />
      {json && (
        <span class="jsonbar dim">
          {node ? "JSON" : "Not JSON, or not finished: saved as a text"}
          {node && (
            <button type="button" class="link" data-test="json-layout" onClick={() => set(printJSON(node, !inLines))}>
              {inLines ? "in one line" : "in lines"}
            </button>
          )}
        </span>
      )}
    </>
  )
}

async function base64(file: File | undefined): Promise<string> {
  if (!file) return ""
  const data = new Uint8Array(await file.arrayBuffer())
  let text = ""
  for (let i = 0; i < data.length; i += 8192) text += String.fromCharCode(...data.subarray(i, i + 8192))
  return btoa(text)
}
