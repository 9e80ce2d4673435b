// The entity beside the grid, as JSON or in editors.
import { useState } from "preact/hooks"
import { pretty } from "../wire/json.ts"
import { type Entity, keyOf } from "../wire/value.ts"
import { CopyButton } from "./parts.tsx"
import { show } from "../wire/date.ts"
import { look } from "../model/settings.ts"
import { useStore } from "../model/store.ts"

interface Props {
  entity: Entity
  readOnly: boolean
  close: () => void
  edit: () => void
  clone: () => void
  remove: () => void
}

export function EntityPanel({ entity, readOnly, close, edit, clone, remove }: Props) {
  const { zone } = useStore(look)
  const [json, setJSON] = useState(true)
  const { pk, rk } = keyOf(entity)
  return (
    <aside class="entity" aria-label="Entity" data-test="entity" onKeyDown={(e) => e.key === "Escape" && (e.preventDefault(), close())}>
      <header>
        <h2 title={`${pk} / ${rk}`}>
          <bdi>{pk || '""'}</bdi> <span class="dim">/</span> <bdi>{rk || '""'}</bdi>
        </h2>
        <button type="button" class="plain" aria-label="Close" data-test="close-entity" onClick={close}>
          ✕
        </button>
      </header>
      <div class="bar">
        <div class="tabs" role="group" aria-label="Form">
          <button type="button" aria-pressed={json} onClick={() => setJSON(true)}>
            JSON
          </button>
          <button type="button" aria-pressed={!json} onClick={() => setJSON(false)}>
            List
          </button>
        </div>
        <span class="grow" />
        <CopyButton text={() => pretty(entity.values)} test="copy-entity" />
        {!readOnly && (
          <>
            <button type="button" data-test="edit" title="F2" onClick={edit}>
              Edit
            </button>
            <button type="button" data-test="clone" onClick={clone}>
              Clone
            </button>
            <button type="button" data-test="delete" title="Del" onClick={remove}>
              Delete
            </button>
          </>
        )}
      </div>
      {json ? (
        <pre tabIndex={0} aria-label="Entity as JSON" data-test="entity-json">
          {pretty(entity.values)}
        </pre>
      ) : (
        <div class="list" tabIndex={0} role="region" aria-label="Properties">
          <dl>
            {[...entity.values].map(([name, value]) => (
              <div key={name}>
                <dt>
                  {name} <span class="dim">{value.type}</span>
                </dt>
                <dd class={value.type === "String" ? "" : "mono"}>{value.text === "" ? <span class="dim">""</span> : value.type === "DateTime" ? show(value.text, zone) : value.text}</dd>
              </div>
            ))}
          </dl>
        </div>
      )}
    </aside>
  )
}
