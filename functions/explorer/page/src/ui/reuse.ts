/**
 * reuse gives each key a value: the one that it had, else one whose key left, else a new one. Making and removing elements of the page costs more than
 * changing their text, so the grid uses the elements of rows and columns that left the view for those that enter it.
 */
export function reuse<K, V>(old: ReadonlyMap<K, V>, keys: readonly K[], make: () => V): Map<K, V> {
  const stays = new Set(keys)
  const free = [...old].flatMap(([key, value]) => (stays.has(key) ? [] : [value]))
  return new Map(keys.map((key) => [key, old.get(key) ?? free.shift() ?? make()]))
}
