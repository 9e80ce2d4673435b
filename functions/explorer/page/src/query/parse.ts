// Filters as a tree, with places for errors. The service judges what is right; this finds what the user typed wrong before it is sent.
import { check, type Value } from "../wire/value.ts"
import { type Operator, type Token, lex, operators } from "./lex.ts"

export type Filter =
  | { kind: "and" | "or"; list: Filter[] }
  | { kind: "not"; of: Filter }
  | { kind: "compare"; name: string; operator: Operator; value: Value; at: number; end: number }
  | { kind: "prefix"; name: string; text: string; at: number; end: number }
  | { kind: "flag"; name: string }

export interface Problem {
  message: string
  at: number
  end: number
}

export interface Parsed {
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
    const filter = this.chain("or", () => this.chain("and", () => this.unary()))
    if (this.token.kind !== "end") this.fail(this.token.kind === ")" ? "this parenthesis was not opened" : "expected and, or, or the end")
    return filter
  }

  private chain(kind: "and" | "or", part: () => Filter): Filter {
    const list = [part()]
    while (this.have("word", kind)) list.push(part())
    return list.length === 1 ? list[0]! : { kind, list }
  }

  private unary(): Filter {
    if (this.have("word", "not")) return { kind: "not", of: this.unary() }
    const open = this.have("(")
    if (open) {
      const inside = this.chain("or", () => this.chain("and", () => this.unary()))
      if (!this.have(")")) this.token.kind === "end" ? this.fail("this parenthesis is not closed", open) : this.fail("expected and, or, or )")
      return inside
    }
    return this.condition()
  }

  private condition(): Filter {
    const begin = this.token
    if (begin.kind === "literal") {
      // 5 lt Age is Age gt 5
      this.i++
      const operator = this.operator()
      const name = this.have("name") ?? this.fail("expected the name of a property")
      return { kind: "compare", name: name.text, operator: turned[operator], value: this.checked(begin), at: begin.at, end: name.end }
    }
    const name = this.have("name") ?? this.fail("expected the name of a property")
    if (this.token.kind === "(") return this.call(name)
    const next = this.token
    if (["end", ")"].includes(next.kind) || next.text === "and" || next.text === "or") return { kind: "flag", name: name.text }
    if (!operators.includes(next.text as Operator)) {
      const hint = { "=": " (equal is eq)", ">": " (greater is gt)", "<": " (less is lt)" }[next.text] ?? ""
      throw new Stop({ message: `expected eq, ne, gt, ge, lt or le${hint}`, at: next.at, end: Math.max(next.end, next.at + 1) })
    }
    const operator = this.operator()
    const literal = this.have("literal") ?? this.fail(this.token.kind === "name" ? "expected a value; text stands in single quotes" : "expected a value")
    return { kind: "compare", name: name.text, operator, value: this.checked(literal), at: begin.at, end: literal.end }
  }

  private operator(): Operator {
    const word = this.token.kind === "word" && operators.includes(this.token.text as Operator) ? (this.token.text as Operator) : this.fail("expected eq, ne, gt, ge, lt or le")
    this.i++
    return word
  }

  private checked(token: Token): Value {
    const value = token.value!
    const wrong = check(value)
    if (wrong) this.fail(wrong, token)
    return value
  }

  private call(name: Token): Filter {
    if (name.text !== "startswith") this.fail("the service has no functions; this page translates startswith(Property, 'text') alone", name)
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
}

const turned: Record<Operator, Operator> = { eq: "eq", ne: "ne", gt: "lt", ge: "le", lt: "gt", le: "ge" }
