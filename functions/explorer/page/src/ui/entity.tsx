// The entity beside the grid, as JSON or in editors.
import { useMemo, useState } from "preact/hooks"
import { pretty } from "../wire/json.ts"
import { visible, visibleLines } from "../wire/unseen.ts"
import { type Entity, type Value, keyOf } from "../wire/value.ts"
import { readJSON } from "../model/jsontext.ts"
import { JSONTree } from "./jsontree.tsx"
import { CopyButton, Tabs } from "./parts.tsx"
import { type Zone, show } from "../wire/date.ts"
import { look, read, write } from "../model/settings.ts"
import { useNow } from "../model/declared.ts"
import type { Rule } from "../model/rule.ts"
import { Ends } from "./ends.tsx"
import { Icon } from "./icon.tsx"
import { useStore } from "../model/store.ts"

interface Props {
  width: string
  entity: Entity
  readOnly: boolean
  close: () => void
  edit: () => void
  clone: () => void
  remove: () => void
  /** rule by which the entity ends, if its table has one */
  rule: Rule | undefined
}

export function EntityPanel({ width, entity, readOnly, close, edit, clone, remove, rule }: Props) {
  const { zone } = useStore(look)
  const [json, setJSON] = useState(() => read<string>("form", "list") === "json")
  const choose = (as: "list" | "json") => (write("form", as), setJSON(as === "json"))
  const { pk, rk } = keyOf(entity)
  const now = useNow(!!rule)
  return (
    <aside class="entity" style={{ width }} aria-label="Entity" data-test="entity" onKeyDown={(e) => e.key === "Escape" && (e.preventDefault(), close())}>
      <header>
        <h2 title={`${pk} / ${rk}`}>
          <bdi>{visible(pk) || '""'}</bdi> <span class="dim">/</span> <bdi>{visible(rk) || '""'}</bdi>
        </h2>
        <button type="button" class="plain" aria-label="Close" data-test="close-entity" onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      <div class="bar">
        <Tabs label="Form" test="form" choices={{ list: "Properties", json: "JSON" }} now={json ? "json" : "list"} choose={choose} />
        <span class="grow" />
        <CopyButton text={() => pretty(entity.values)} label="Copy as JSON" bare test="copy-entity" />
        {!readOnly && (
          <>
            <button type="button" data-test="edit" title="E" onClick={edit}>
              <Icon name="edit" /> Edit
            </button>
            <button type="button" data-test="clone" aria-label="Clone" title="Clone: a new entity with these properties" onClick={clone}>
              <Icon name="clone" />
            </button>
            <button type="button" data-test="delete" aria-label="Delete" title="Delete (Del)" onClick={remove}>
              <Icon name="trash" />
            </button>
          </>
        )}
      </div>
      {rule && <Ends rule={rule} entity={entity} zone={zone} now={now} />}
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
                  {name} <span class="kind">{value.type}</span>
                </dt>
                <dd class={value.type === "String" ? "" : "mono"}>
                  <Shown value={value} zone={zone} />
                </dd>
              </div>
            ))}
          </dl>
        </div>
      )}
    </aside>
  )
}

function Shown({ value, zone }: { value: Value; zone: Zone }) {
  const node = useMemo(() => (value.type === "String" ? readJSON(value.text) : undefined), [value])
  if (node) return <JSONTree node={node} />
  return <>{value.text === "" ? <span class="dim">""</span> : value.type === "DateTime" ? show(value.text, zone) : visibleLines(value.text)}</>
}
