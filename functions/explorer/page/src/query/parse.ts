// Filters as a tree, with places for errors. The service judges what is right; this finds what the user typed wrong before it is sent.
import { type Type, type Value, check } from "../wire/value.ts"
import { type Operator, type Token, lex, operators } from "./lex.ts"

export type Filter =
  | { kind: "and" | "or"; list: Filter[] }
  | { kind: "not"; of: Filter }
  | { kind: "compare"; name: string; operator: Operator; value: Value; at: number; end: number }
  | { kind: "prefix"; name: string; text: string; at: number; end: number }
  | { kind: "call" } // of a function that only a server with extensions has
  | { kind: "flag"; name: string }
  | { kind: "constant" } // 1 eq 1, true

/** Operand is a property or a value: what is compared. */
interface Operand {
  kind: "operand"
  token: Token
  value?: Value
}

type Part = Filter | Operand

/** ends reports whether a condition may end before a token. */
const ends = (t: Token) => t.kind === "end" || t.kind === ")" || (t.kind === "word" && (t.text === "and" || t.text === "or"))

export interface Problem {
  message: string
  at: number
  end: number
}

interface Parsed {
  filter?: Filter
  problem?: Problem
}

class Stop extends Error {
  constructor(readonly problem: Problem) {
    super(problem.message)
  }
}

export function parse(source: string): Parsed {
  if (!source.trim()) return {}
  try {
    return { filter: new Parser(lex(source)).all() }
  } catch (e) {
    if (e instanceof Stop) return { problem: e.problem }
    throw e
  }
}

class Parser {
  private i = 0

  constructor(private readonly tokens: Token[]) {}

  private get token() {
    return this.tokens[this.i]!
  }

  private fail(message: string, token = this.token): never {
    throw new Stop({ message: token.error ?? message, at: token.at, end: Math.max(token.end, token.at + 1) })
  }

  private have(kind: Token["kind"], text?: string): Token | undefined {
    const { token } = this
    if (token.kind !== kind || (text !== undefined && token.text !== text)) return undefined
    this.i++
    return token
  }

  all(): Filter {
    const filter = this.condition(this.any())
    if (this.token.kind !== "end") this.fail(this.token.kind === ")" ? "this parenthesis was not opened" : "expected and, or, or the end")
    return filter
  }

  private any(): Part {
    return this.chain("or", () => this.chain("and", () => this.unary()))
  }

  private chain(kind: "and" | "or", part: () => Part): Part {
    const first = part()
    const list = [first]
    while (this.have("word", kind)) list.push(part())
    return list.length === 1 ? first : { kind, list: list.map((p) => this.condition(p)) }
  }

  private unary(): Part {
    if (this.have("word", "not")) return { kind: "not", of: this.condition(this.unary()) }
    const left = this.group("expected the name of a property")
    if (left.kind !== "operand") return left
    if (this.token.kind !== "word" || !operators.includes(this.token.text as Operator)) {
      if (!ends(this.token)) this.noOperator()
      return left
    }
    const operator = this.operator()
    const right = this.group("expected a value")
    if (right.kind !== "operand") this.fail("expected a value")
    return this.comparison(left, operator, right)
  }

  /** comparison has a property at one side at most. */
  private comparison(left: Operand, operator: Operator, right: Operand): Filter {
    if (left.value && right.value) {
      const [a, b] = [left.value.type, right.value.type]
      if (a !== b && !(numeric.includes(a) && numeric.includes(b))) this.fail(`a ${a} and a ${b} cannot be compared`, right.token)
      return { kind: "constant" }
    }
    if (!left.value && !right.value) this.fail("expected a value; text stands in single quotes", right.token)
    const [property, literal] = left.value ? [right, left] : [left, right] // 5 lt Age is Age gt 5
    const name = property.token.text
    const value = this.checked(literal.token)
    const wanted = name === "PartitionKey" || name === "RowKey" ? "String" : name === "Timestamp" ? "DateTime" : value.type
    if (value.type !== wanted) this.fail(`${name} is compared with a ${wanted}`, literal.token)
    return { kind: "compare", name, operator: left.value ? turned[operator] : operator, value, at: left.token.at, end: right.token.end }
  }

  /** condition is a part that is true or false by itself. */
  private condition(part: Part): Filter {
    if (part.kind !== "operand") return part
    if (part.token.kind === "word") this.fail("expected the name of a property", part.token)
    if (!part.value) return { kind: "flag", name: part.token.text }
    return part.value.type === "Boolean" ? { kind: "constant" } : this.noOperator()
  }

  private noOperator(): never {
    const next = this.token
    const hint = { "=": " (equal is eq)", ">": " (greater is gt)", "<": " (less is lt)" }[next.text] ?? ""
    throw new Stop({ message: `expected eq, ne, gt, ge, lt or le${hint}`, at: next.at, end: Math.max(next.end, next.at + 1) })
  }

  /** group is what stands in parentheses, a property, a value, or a call. */
  private group(wanted: string): Part {
    const open = this.have("(")
    if (open) {
      const inside = this.any()
      if (!this.have(")")) this.token.kind === "end" ? this.fail("this parenthesis is not closed", open) : this.fail("expected and, or, or )")
      return inside
    }
    const literal = this.have("literal")
    if (literal) return { kind: "operand", token: literal, value: this.checked(literal) }
    const name = this.have("name") ?? this.have("word") ?? this.fail(wanted) // the words of the grammar are names where a name stands
    return this.token.kind === "(" ? this.call(name) : { kind: "operand", token: name }
  }

  private operator(): Operator {
    const word = this.token.kind === "word" && operators.includes(this.token.text as Operator) ? (this.token.text as Operator) : this.fail("expected eq, ne, gt, ge, lt or le")
    this.i++
    return word
  }

  private checked(token: Token): Value {
    const value = token.value!
    const wrong = token.error ?? (value.type === "DateTime" ? "" : check(value))
    if (wrong) this.fail(wrong, token)
    return value
  }

  private call(name: Token): Filter {
    if (functions.includes(name.text)) return this.extension(name.text === "substringof")
    if (name.text !== "startswith") this.fail("the functions are startswith(Property, 'text'), which this page translates, and, on servers with extensions, endswith, contains and substringof", name)
    this.i++
    const property = this.have("name") ?? this.fail("expected the name of a property")
    if (!this.have(",")) this.fail("expected ,")
    const text = this.token
    if (text.value?.type !== "String") this.fail("expected a text in single quotes")
    this.i++
    const close = this.have(")") ?? this.fail("expected )")
    if (this.have("word", "eq") && !this.have("literal", "true")) this.fail("expected true")
    return { kind: "prefix", name: property.text, text: text.value!.text, at: name.at, end: this.tokens[this.i - 1]?.end ?? close.end }
  }

  /** extension is what stands behind the name of a function that is sent as it is. */
  private extension(turned: boolean): Filter {
    this.i++
    const property = () => this.have("name") ?? this.fail("expected the name of a property")
    const text = () => (this.token.value?.type === "String" ? this.have("literal") : this.fail("expected a text in single quotes"))
    const [first, second] = turned ? [text, property] : [property, text]
    first()
    if (!this.have(",")) this.fail("expected ,")
    second()
    if (!this.have(")")) this.fail("expected )")
    if ((this.have("word", "eq") || this.have("word", "ne")) && !this.have("literal", "true") && !this.have("literal", "false")) this.fail("expected true or false")
    return { kind: "call" }
  }
}

const functions: readonly string[] = ["endswith", "contains", "substringof"]
const numeric: readonly Type[] = ["Int32", "Int64", "Double"]
const turned: Record<Operator, Operator> = { eq: "eq", ne: "ne", gt: "lt", ge: "le", lt: "gt", le: "ge" }
