// JSON in a text, as a tree.
import type { Node } from "../model/jsontext.ts"
import { plural } from "../model/words.ts"
import { visible } from "../wire/unseen.ts"

/** most members are shown of each object or list. */
const most = 200

export function JSONTree({ node, name, open = true }: { node: Node; name?: string; open?: boolean }) {
  const label = name !== undefined && <span class="dim">{visible(name)}: </span>
  if (node.kind === "atom")
    return (
      <>
        {label}
        <span class={node.text[0] === '"' ? "mono" : "mono atom"}>{visible(node.text)}</span>
      </>
    )
  const sum = node.kind === "object" ? `{ ${plural(node.members.length, "member")} }` : `[ ${plural(node.members.length, "element")} ]`
  return (
    <details class="json" open={open} data-test="json-tree">
      <summary class="dim">
        {label}
        {sum}
      </summary>
      <ul>
        {node.members.slice(0, most).map(({ name, value }, i) => (
          <li key={i}>
            <JSONTree node={value} name={name} open={node.members.length < 20 && value.kind !== "atom" && value.members.length < 20} />
          </li>
        ))}
        {node.members.length > most && <li class="dim">and {node.members.length - most} more</li>}
      </ul>
    </details>
  )
}
