package explorer

import "testing"

// TestNewestFirst checks that a descending sort by keys shows the end of the whole table, not only of the
// loaded rows. A sort by RowKey alone does so within one partition.
func TestNewestFirst(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("many", numbered(1500)...)
	b := browse(t, s, "many?sort=-PartitionKey")
	b.seeText(at("status"), "1,000 rows loaded, there are more")
	b.wait(`/c\s+1499/.test(document.querySelector(".row[data-row]").innerText)`)
	b.wait(`!document.querySelector('[data-test="status"]').innerText.includes("sorted among")`)
	b = browse(t, s, "many?filter=PartitionKey+eq+'b'&sort=-RowKey")
	b.seeText(at("status"), "500 rows, all that match")
	b.wait(`/b\s+1498/.test(document.querySelector(".row[data-row]").innerText)`)
	b = browse(t, s, "many?sort=-RowKey")
	b.seeText(at("status"), "sorted among the loaded rows only, not the table")
}
