// The selected cells of the grid: a rectangle from an anchor to the active cell.

export interface Selection {
  row: number
  col: number
  anchorRow: number
  anchorCol: number
}

export const single = (row: number, col: number): Selection => ({ row, col, anchorRow: row, anchorCol: col })

export const extended = (s: Selection, row: number, col: number): Selection => ({ ...s, row, col })

export const area = (s: Selection) => ({
  top: Math.min(s.row, s.anchorRow),
  bottom: Math.max(s.row, s.anchorRow),
  left: Math.min(s.col, s.anchorCol),
  right: Math.max(s.col, s.anchorCol),
})

/** whole reports whether entire rows are selected. */
export const whole = (s: Selection, columns: number) => {
  const a = area(s)
  return a.left === 0 && a.right === columns - 1 && columns > 1
}

/** moved is the selection after a key, or undefined if the key moves nothing. */
export function moved(s: Selection, e: KeyboardEvent, rows: number, columns: number, page: number): Selection | undefined {
  const far = e.ctrlKey || e.metaKey
  let { row, col } = s
  switch (e.key) {
    case "ArrowUp": row = far ? 0 : row - 1; break
    case "ArrowDown": row = far ? rows - 1 : row + 1; break
    case "ArrowLeft": col = far ? 0 : col - 1; break
    case "ArrowRight": col = far ? columns - 1 : col + 1; break
    case "PageUp": row -= page; break
    case "PageDown": row += page; break
    case "Home": col = 0; if (far) row = 0; break
    case "End": col = columns - 1; if (far) row = rows - 1; break
    case "a": if (!far) return undefined; return { row: rows - 1, col: columns - 1, anchorRow: 0, anchorCol: 0 }
    case " ": if (!e.shiftKey) return undefined; return { ...s, col: columns - 1, anchorCol: 0 }
    default: return undefined
  }
  row = Math.max(0, Math.min(rows - 1, row))
  col = Math.max(0, Math.min(columns - 1, col))
  return e.shiftKey ? extended(s, row, col) : single(row, col)
}
