// Shows what a range from the clipboard would write, before it is written.
import { useMemo, useState } from "preact/hooks"
import type { Change } from "../model/changes.ts"
import { type Cell, type Range, preview } from "../model/paste.ts"
import { plural } from "../model/words.ts"
import { visible } from "../wire/unseen.ts"
import { type Type, type Value, system, types } from "../wire/value.ts"
import { Icon } from "./icon.tsx"
import { Dialog } from "./parts.tsx"

interface Props {
  range: Range
  typeOf: (name: string) => Type
  write: (changes: Change[]) => void
  close: () => void
}

/** shown rows are in the preview; all are written. */
const shown = 100

const words = (v: Value | undefined) => (v ? visible(v.text.slice(0, 100)) || '""' : "no value")

export function Pasting({ range, typeOf, write, close }: Props) {
  const [chosen, setChosen] = useState<Record<string, Type>>({})
  const p = useMemo(() => preview(range, (name) => chosen[name] ?? typeOf(name)), [range, chosen])
  const used = range.names.map((name, c) => ({ name, c })).filter(({ c, name }) => !system.includes(name) || p.rows.some((r) => r.cells[c]))
  const fresh = p.rows.filter((r) => r.fresh).length
  return (
    <Dialog title="Paste" close={close} test="pasting">
      <form onSubmit={(e) => (e.preventDefault(), write(p.changes))}>
        <p data-test="paste-sum">
          {p.rows.length ? (
            <>
              <b>{plural(p.cells, "value")}</b> in {plural(p.rows.length, "entity", "entities")}
              {fresh > 0 && `, ${fresh === p.rows.length ? "all" : fresh} of them new`}. An empty cell is no value.
            </>
          ) : (
            "Nothing would change: the values are there already."
          )}
          {range.left && <span class="wrong"> {range.left}</span>}
        </p>
        {p.rows.length > 0 && (
          <div class="pasted" tabIndex={0} role="region" aria-label="What is written">
            <table>
              <thead>
                <tr>
                  <th scope="col">Entity</th>
                  {used.map(({ name, c }) => (
                    <th scope="col" key={c}>
                      {name}
                      {!system.includes(name) && (
                        <select aria-label={`Type of ${name}`} data-test={`paste-type-${name}`} value={chosen[name] ?? typeOf(name)} onChange={(e) => setChosen({ ...chosen, [name]: e.currentTarget.value as Type })}>
                          {types.map((t) => (
                            <option key={t}>{t}</option>
                          ))}
                        </select>
                      )}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {p.rows.slice(0, shown).map((r, i) => (
                  <tr key={i}>
                    <th scope="row">
                      {visible(r.key.pk)} / {visible(r.key.rk)} {r.fresh && <span class="kind">new</span>}
                    </th>
                    {used.map(({ c }) => (
                      <td key={c}>{r.cells[c] && <Was cell={r.cells[c]} />}</td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
        {p.rows.length > shown && <p class="dim">and {plural(p.rows.length - shown, "more entity", "more entities")}</p>}
        {p.wrong.length > 0 && (
          <ul class="wrong" data-test="paste-wrong">
            {p.wrong.slice(0, 5).map((w) => (
              <li key={w}>{w}</li>
            ))}
            {p.wrong.length > 5 && <li>and {p.wrong.length - 5} more</li>}
          </ul>
        )}
        <footer>
          <button type="submit" class="main" data-test="paste-write" autoFocus disabled={!p.changes.length || p.wrong.length > 0}>
            <Icon name="check" /> Write {plural(p.cells, "value")}
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

/** Was is a value and the one that it replaces. */
const Was = ({ cell }: { cell: Cell }) => (
  <span class={cell.wrong ? "wrong" : ""} title={cell.wrong}>
    {cell.old && <del class="dim">{words(cell.old)}</del>} <ins>{words(cell.new)}</ins>
  </span>
)
