// JSON in texts, as it is written: numbers keep their digits, names their order.

interface Group {
  kind: "object" | "list"
  members: { name: string; value: Node }[]
}

export type Node = Group | { kind: "atom"; text: string }

/** deepest bounds what is nested, so that no text exhausts the stack. */
const deepest = 200
const atom = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null/y
const space = /[ \t\r\n]*/y

/** readJSON reads an object or a list; undefined for any other text. */
export function readJSON(source: string): Node | undefined {
  if (!/^\s*[{[]/.test(source)) return undefined
  let at = 0
  const skip = () => {
    space.lastIndex = at
    space.exec(source)
    at = space.lastIndex
  }
  const one = (): string | undefined => {
    atom.lastIndex = at
    const m = atom.exec(source)?.[0]
    at += m?.length ?? 0
    return m
  }
  const value = (depth: number): Node | undefined => {
    skip()
    const open = source[at]
    if (open !== "{" && open !== "[") {
      const text = one()
      return text === undefined ? undefined : { kind: "atom", text }
    }
    if (depth > deepest) return undefined
    const close = open === "{" ? "}" : "]"
    const node: Group = { kind: open === "{" ? "object" : "list", members: [] }
    at++
    skip()
    if (source[at] === close) return at++, node
    for (;;) {
      skip()
      let name = String(node.members.length)
      if (open === "{") {
        const quoted = source[at] === '"' ? one() : undefined
        skip()
        if (quoted === undefined || source[at++] !== ":") return undefined
        name = JSON.parse(quoted) as string
      }
      const member = value(depth + 1)
      if (!member) return undefined
      node.members.push({ name, value: member })
      skip()
      const next = source[at++]
      if (next === close) return node
      if (next !== ",") return undefined
    }
  }
  const node = value(0)
  skip()
  return at === source.length ? node : undefined
}

/** printJSON writes a node, with a line for each member or in one line. */
export function printJSON(node: Node, lines: boolean, indent = ""): string {
  if (node.kind === "atom") return node.text
  const [open, close] = node.kind === "object" ? "{}" : "[]"
  if (!node.members.length) return open! + close!
  const inner = indent + "  "
  const members = node.members.map(({ name, value }) => (node.kind === "object" ? JSON.stringify(name) + (lines ? ": " : ":") : "") + printJSON(value, lines, inner))
  return lines ? `${open}\n${members.map((m) => inner + m).join(",\n")}\n${indent}${close}` : open + members.join(",") + close
}
