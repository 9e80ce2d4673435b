package explorer

import (
	"fmt"
	"testing"
)

// TestReusedCells checks that the grid shows the right values in the right order after each way of scrolling. The grid
// reuses elements: a row or column that becomes visible gets the elements of one that is no longer visible. A screen
// reader reads the elements in the order of the page. So rows and cells must be in ascending order there too.
func TestReusedCells(t *testing.T) {
	t.Parallel()
	s := serve(t)
	rows := make([]entity, 400)
	for r := range rows {
		rows[r] = entity{"PartitionKey": "p", "RowKey": fmt.Sprintf("%04d", r)}
		for c := range 40 {
			rows[r][fmt.Sprintf("c%02d", c)] = fmt.Sprintf("%d-%d", r, c)
		}
	}
	s.fill("wide", rows...)
	b := newTab(t)
	b.enter("gateway", s, "wide")
	b.seeText(`[role="gridcell"]`, "0000")
	const wrong = `(() => {
		const view = document.querySelector('[data-test="grid"]').getBoundingClientRect()
		const head = document.querySelector(".heads").getBoundingClientRect()
		const columns = Number([...document.querySelectorAll(".heads [data-head]")].pop().ariaColIndex) - 2
		let last = -1, inView = 0
		for (const row of document.querySelectorAll("[data-row]")) {
			const r = Number(row.dataset.row)
			if (last >= 0 && r !== last + 1) return "row " + r + " is after row " + last
			last = r
			const at = row.getBoundingClientRect()
			if (at.bottom > head.bottom && at.top < view.bottom) inView++
			let before = -2
			for (const cell of row.querySelectorAll("[data-col]")) {
				const c = Number(cell.dataset.col)
				if (c !== before + 1 && before > 1) return "cell " + c + " is after cell " + before + " in row " + r
				before = c
				const want = c < 0 ? String(r + 1) : c === 0 ? "p" : c === 1 ? String(r).padStart(4, "0") : r + "-" + (c - 2)
				if (c < 42 && cell.textContent !== want) // the last column is Timestamp
					return "cell " + c + " of row " + r + " shows " + cell.textContent
			}
			if (before !== columns) return "row " + r + " has cells up to " + before + ", and the head up to " + columns // some frames after a jump
		}
		return inView >= Math.floor((view.bottom - head.bottom) / 30) ? "" : inView + " rows are in view"
	})()`
	// cells scrolls in six frames and returns how many cells the rows have then, and the rows that show wrong keys.
	cells := func(step int) string {
		return js[string](b, `new Promise(done => {
			const grid = document.querySelector('[data-test="grid"]')
			const begin = grid.scrollTop
			let frame = 0
			const next = () => {
				const rows = [...document.querySelectorAll("[data-row]")].map(row => [...row.querySelectorAll("[data-col]")].map(cell => cell.textContent))
				const wrong = rows.filter(([number, , key]) => Number(number) !== Number(key) + 1)
				if (frame === 6) return done([...new Set(rows.map(row => row.length)), ...wrong].join("; "))
				grid.scrollTop = begin + ++frame * %s
				requestAnimationFrame(next)
			}
			next()
		})`, step)
	}
	b.wait(`document.querySelectorAll("[data-row]").length > 25`)
	all := cells(0)
	if got := cells(60); got != all {
		t.Errorf("while the wheel turns, rows have these numbers of cells: %s, want %s", got, all)
	}
	for _, to := range [][2]int{{0, 0}, {90, 0}, {150, 120}, {6000, 120}, {6030, 900}, {5700, 2400}, {0, 2500}, {11000, 0}, {11010, 35}, {400, 400}, {460, 350}, {0, 0}} {
		js[int](b, `(() => { const grid = document.querySelector('[data-test="grid"]'); grid.scrollTop = %s; return grid.scrollLeft = %s })()`, to[0], to[1])
		b.wait(wrong + ` === ""`)
		b.wait(wrong + ` === "" && document.querySelectorAll("[data-row]").length > 25`) // wait also for the rows just outside the window, which the grid adds later
	}
	if got := cells(1500); got != "3" {
		t.Errorf("while one drags, rows have these numbers of cells: %s, want 3", got)
	}
	b.wait(wrong + ` === "" && document.querySelectorAll("[data-row]").length > 25`)
}
