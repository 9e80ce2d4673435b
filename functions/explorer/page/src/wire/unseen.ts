// Characters that nobody would see: spaces at the ends of a text or beside each other, other spaces than the usual one, characters without a
// shape, and those that turn the direction. Texts that differ by them alone look the same.

/** ordinary texts have none; most texts are. */
const ordinary = /^(?:[!-~]+(?: [!-~]+)*)?$/

/** A joiner between pictures makes one picture of them. */
const unseen = /(\p{Extended_Pictographic}[\ufe0f\p{EMod}]*(?:\u200d\p{Extended_Pictographic}[\ufe0f\p{EMod}]*)+)|^ +| +$| {2,}|(?! )[\p{Z}\p{C}]/gmu

const named: Record<string, string> = { "\n": "↵", "\r": "␍", "\t": "⇥" }

const code = (s: string) => s.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")

/** visible is a text of one line with marks for what nobody would see. */
export const visible = (text: string) =>
  ordinary.test(text) ? text : text.replace(unseen, (s, picture: string | undefined) => picture ?? (s[0] === " " ? "␣".repeat(s.length) : (named[s] ?? `⟨${code(s)}⟩`)))

/** visibleLines is the same of a text with lines. */
export const visibleLines = (text: string) => text.split("\n").map(visible).join("\n")

/** escaped writes what nobody would see in JSON as JSON escapes it. */
export const escaped = (json: string) =>
  ordinary.test(json)
    ? json
    : json.replace(/(\p{Extended_Pictographic}[\ufe0f\p{EMod}]*(?:\u200d\p{Extended_Pictographic}[\ufe0f\p{EMod}]*)+)|(?![ \n])[\p{Z}\p{C}]/gu, (s, picture: string | undefined) => picture ?? [...Array(s.length).keys()].map((i) => `\\u${s.charCodeAt(i).toString(16).padStart(4, "0")}`).join(""))
