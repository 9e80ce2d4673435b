package advise

import (
	"fmt"
	"strconv"
	"strings"

	"edgetable/core/traffic"
)

const (
	scanRatio   = 10   // a query is reported if it examines more rows than this for each returned row
	scanAtLeast = 1000 // a query is reported only if it examined at least this number of rows
	// queriesAtLeast is the minimum number of queries of the same shape. Fewer were probably sent by a person; a
	// program repeats its queries more often.
	queriesAtLeast = 5
	pagesAtLeast   = 20 // this minimum applies if only the number of pages is known
)

// isFrequent reports whether a query is so frequent that probably a program sends it.
func isFrequent(s *traffic.Shape) bool {
	if s.Queries == 0 {
		return s.Pages >= pagesAtLeast
	}
	return s.Queries >= queriesAtLeast
}

// scanRatios reports queries that examine many more rows than they return.
func scanRatios(r *traffic.Report) (list []Finding) {
	for _, s := range r.Shapes {
		ratio := float64(s.Scanned) / float64(max(s.Returned, 1))
		if s.Others() || s.Filter == "" || s.Scanned < scanAtLeast || ratio <= scanRatio || !isFrequent(&s) {
			continue
		}
		names, equal, point := properties(s.Filter)
		f := Finding{
			Rule: "scan-ratio", Number: ratio, Unit: "rows scanned per row returned", Example: s.Example,
			Finding: fmt.Sprintf("A query scans %s rows for each row that it returns (%s, %s pages).", commas(ratio), planWords(s.Plan), commas(float64(s.Pages))),
			Why: Why{
				Azure:    "The service reads and bills page after page; a page ends after 5 seconds or at the end of a range, often empty.",
				DynamoDB: "DynamoDB bills every examined item: a read unit for 4 KiB, so 256 units for a page of 1 MB. The server sends one DynamoDB Query for each bucket (hash key).",
				Workers:  "Each row examined is a row read ($0.001 a million) and takes CPU time of the object's single thread.",
				Binary:   "One core examines about a million rows a second, and other requests wait meanwhile.",
				Postgres: "The database sends every examined row to the server, which applies the filter.",
			},
		}
		first := "the property"
		if len(names) > 0 {
			first = names[0]
		}
		if point && s.Returned <= 2*s.Pages {
			f.Rule = "point-read-by-property"
			f.Finding = fmt.Sprintf("A property is used like a key: a query by %s scans %s rows to find one (%s pages).", first, commas(ratio), commas(float64(s.Pages)))
			f.Instead = fmt.Sprintf("Store a second, small entity (an index entity). Its PartitionKey is the value of %s, and it contains the keys of the original entity. If both are in one partition, write them in one batch. Or make %s the RowKey.", first, first)
		} else if s.Plan == "Partition" || s.Plan == "Rows" {
			f.Instead = fmt.Sprintf("Begin the RowKey with %s, so that the filter becomes RowKey ge '…' and RowKey lt '…'; or store the entity a second time with such a key in the same partition, in one batch.", first)
		} else if len(equal) > 0 {
			f.Instead = fmt.Sprintf("Begin the PartitionKey with %s. Or store a second, small entity (an index entity) for each entity, with PartitionKey = %s. In both cases, a filter can then name one partition.", equal[0], equal[0])
		} else {
			f.Instead = fmt.Sprintf("No choice of keys puts a range of %s into one partition. Name a partition in the filter, too, or store the results of frequent queries in separate entities.", first)
		}
		list = append(list, f)
	}
	return list
}

func planWords(plan string) string {
	switch plan {
	case "Table":
		return "of the whole table"
	case "Range":
		return "of a range of partitions"
	case "Partition":
		return "of a partition"
	case "Rows":
		return "of a part of a partition"
	}
	return "of points"
}

func commas(n float64) string {
	text := strconv.FormatFloat(n, 'f', 0, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// properties returns the properties in the shape of a filter, except the keys and Timestamp. The second result contains
// the properties that are compared with eq. The third result reports whether these are all of them, and the filter does
// not contain "or".
func properties(shape string) (names, equal []string, point bool) {
	point = true
	words := strings.Fields(strings.NewReplacer("(", " ", ")", " ").Replace(shape))
	for i := 0; i+2 < len(words); i++ {
		if words[i+2] != "?" {
			continue
		}
		switch name := words[i]; name {
		case "PartitionKey", "RowKey", "Timestamp":
		default:
			names = append(names, name)
			if words[i+1] == "eq" {
				equal = append(equal, name)
			} else {
				point = false
			}
		}
	}
	return names, equal, point && len(names) > 0 && !strings.Contains(shape, " or ")
}

// batches reports a table with many single writes that each follow another write to the same partition so closely that
// one batch could contain both.
func batches(r *traffic.Report) []Finding {
	t := &r.Totals
	single := t.WriteRequests - t.Batches
	if t.Batchable < minCount || float64(t.Batchable) < 0.5*float64(single) {
		return nil
	}
	share := 100 * float64(t.Batchable) / float64(single)
	return []Finding{{
		Rule: "batches-not-used", Finding: fmt.Sprintf("%.0f %% of the single writes closely follow another write to the same partition.", share),
		Number: share, Unit: "% of single writes", Example: t.SecondMostIn,
		Why: Why{
			Azure:    "A batch of 100 is billed as one transaction, and is one round trip.",
			DynamoDB: "A batch is one request to Lambda, but its items cost twice the write units: it saves time and requests, not units.",
			Workers:  "A batch is one request to the Worker and one to the object, instead of 100 of each.",
			Binary:   "A batch needs one sync to the disk, and writes about ten times as many entities a second.",
			Postgres: "A batch is one transaction, with one sync to the disk. Single writes of the same moment share transactions, too.",
		},
		Instead: "Collect writes of one partition into entity group transactions of up to 100 (SubmitTransaction, submit_transaction), if the writes may succeed or fail together.",
	}}
}
