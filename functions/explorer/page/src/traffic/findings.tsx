// The adviser: what is wrong with the keys, why it matters in each home, and what to do instead.
import type { Advice } from "./report.ts"

const homes = [["azure", "Azure"], ["dynamodb", "DynamoDB"], ["workers", "Workers"], ["binary", "Binary"]] as const

export function Findings({ advice, counted }: { advice: Advice; counted: boolean }) {
  return (
    <section data-test="findings">
      <h2>Advice</h2>
      {advice.findings.length === 0 && <p>No problems were found. Tables with fewer than 200 operations or entities are not judged, and neither are queries from tools or queries that ran fewer than five times.</p>}
      <ol class="findings">
        {advice.findings.map((f) => (
          <li key={f.rule + f.example}>
            <b>{f.finding}</b> <span class="rule">{f.rule}</span>
            <dl>
              <dt class="dim">Example</dt>
              <dd class="mono">{f.example}</dd>
              <dt class="dim">Instead</dt>
              <dd>{f.instead}</dd>
            </dl>
            <details>
              <summary>Reason, for each service</summary>
              <dl>
                {homes.map(([key, name]) => [<dt class="dim">{name}</dt>, <dd>{f.why[key]}</dd>])}
              </dl>
            </details>
          </li>
        ))}
      </ol>
      {advice.costs.length === 0 ? (
        counted && <p class="dim">The traffic was counted for less than an hour: too short to estimate the cost of a month.</p>
      ) : (
      <p class="dim">
        A month like this costs about {advice.costs.map((c) => `$${c.dollarsAMonth.toFixed(2)} on ${homes.find(([key]) => key === c.home)?.[1]}`).join(", ")}, at the list prices of {advice.pricesOf}.
      </p>
      )}
    </section>
  )
}
