// Two versions of an entity, after a save was refused because somebody else had changed it.
import { useState } from "preact/hooks"
import type { Change } from "../wire/changes.ts"
import { type Difference, compare, merged } from "../model/draft.ts"
import { visibleLines } from "../wire/unseen.ts"
import type { Entity, Value } from "../wire/value.ts"

interface Props {
  base: Entity
  mine: Map<string, Value>
  theirs: Entity
  save: (values: Map<string, Value>) => void
  cancel: () => void
}

const words = (v: Value | undefined) => (v ? (v.text === "" ? '""' : visibleLines(v.text)) : "no value")

/** newerWords says that an entity that is edited is another one by now. */
export const newerWords = (c: Change) => (c.entity ? "The server has a newer version of this entity." : "The server does not have this entity here any more.")

export function Merge({ base, mine, theirs, save, cancel }: Props) {
  const [list, setList] = useState(() => compare(base, mine, theirs))
  const take = (name: string, which: Difference["take"]) => setList(list.map((d) => (d.name === name ? { ...d, take: which } : d)))
  return (
    <div class="merge" data-test="merge">
      <p>
        <b>Somebody changed this entity since you loaded it.</b> Choose for each property which value to keep; nothing is saved until you do.
      </p>
      <table>
        <thead>
          <tr>
            <th scope="col">Property</th>
            <th scope="col">Yours</th>
            <th scope="col">Theirs</th>
          </tr>
        </thead>
        <tbody>
          {list.map((d) => (
            <tr key={d.name} class={d.conflict ? "conflict" : ""}>
              <th scope="row">{d.name}</th>
              {(["mine", "theirs"] as const).map((which) => (
                <td key={which}>
                  <label>
                    <input type="radio" name={`take-${d.name}`} checked={d.take === which} data-test={`take-${which}`} onChange={() => take(d.name, which)} />
                    <span>{words(d[which])}</span> <span class="dim">{d[which]?.type}</span>
                  </label>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <div class="bar">
        <button type="button" class="main" data-test="save-merged" onClick={() => save(merged(theirs, list))}>
          Save merged
        </button>
        <button type="button" onClick={cancel}>
          Back to my values
        </button>
      </div>
    </div>
  )
}
