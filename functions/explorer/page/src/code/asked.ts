/** Asked is the query that a program runs. */
export interface Asked {
  table: string
  /** filter is as it is sent: prefixes are ranges */
  filter: string
  select: string[]
  /** endpoint of the account, for curl */
  endpoint: string
  account: string
}
