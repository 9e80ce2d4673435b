// XML of the service: elements and text. The browser's own parser is forbidden to the page, since it could make HTML.

export interface Element {
  name: string
  text: string
  children: Element[]
}

const token = /<\?[^>]*>|<!--[^]*?-->|<(\/?)([\w.:-]+)[^>]*?(\/?)>|([^<]+)/y
const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }
const decode = (s: string) =>
  s.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (all, hex?: string, decimal?: string, name?: string) =>
    name ? (entities[name] ?? all) : String.fromCodePoint(hex ? parseInt(hex, 16) : +decimal!),
  )

/** parse reads a document and returns its outermost element. */
export function parse(source: string): Element {
  const root: Element = { name: "", text: "", children: [] }
  const open = [root]
  const text = source.replace(/^\ufeff/, "")
  for (token.lastIndex = 0; token.lastIndex < text.length; ) {
    const m = token.exec(text)
    if (!m) break
    const [, close, name, empty, characters] = m
    if (characters !== undefined) open.at(-1)!.text += decode(characters)
    else if (close) open.pop()
    else if (name) {
      const element: Element = { name, text: "", children: [] }
      open.at(-1)!.children.push(element)
      if (!empty) open.push(element)
    }
    if (!open.length) break
  }
  if (open.length !== 1 || !root.children[0]) throw new Error("the response is not XML, or it is incomplete")
  return root.children[0]
}

/** find is the element at a path of names, if there is one. */
export const find = (e: Element | undefined, ...path: string[]): Element | undefined =>
  path.reduce<Element | undefined>((at, name) => at?.children.find((c) => c.name === name), e)

export const textAt = (e: Element | undefined, ...path: string[]) => find(e, ...path)?.text.trim() ?? ""

const encode = (s: string) => s.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]!)

/** element writes an element with text or elements in it; undefined is left out. */
export const element = (name: string, content: string | (string | undefined)[]) =>
  `<${name}>${typeof content === "string" ? encode(content) : content.filter((c) => c !== undefined).join("")}</${name}>`

export const declaration = '<?xml version="1.0" encoding="utf-8"?>'
