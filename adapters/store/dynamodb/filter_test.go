package dynamodb_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/buckets"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
)

// TestFilter checks that DynamoDB omits many entities from a scan with a filter, but no
// entity that matches the filter.
func TestFilter(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 7))
	w := new(tap)
	s := open(t, dynamodb.Options{Client: newClient(w), Table: newTable(t), Buckets: 1, Lease: time.Hour})
	create(t, s)
	rows := fillRandom(t, s, rnd, 200, 0)
	values := meeting()
	var texts []string
	for _, v := range values { // each literal with each operator, also negated
		for _, op := range []string{"eq", "ne", "lt", "le", "gt", "ge"} {
			texts = append(texts, "A "+op+" "+odata.Literal(v), "not (A "+op+" "+odata.Literal(v)+")")
		}
	}
	for _, part := range []string{"", "a", "\uE000", "😀", "1"} { // each function with some strings
		for _, function := range []string{"startswith", "endswith", "contains"} {
			call := function + "(A,'" + part + "')"
			texts = append(texts, call, "not "+call, "not ("+call+" or B eq 1)")
		}
	}
	rnd.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	texts = texts[:240]
	for i := range 100 {
		texts = append(texts, randomFilter(rnd, values, 1+i%4))
	}
	sent, examined, matched := 0, 0, 0
	for _, text := range texts {
		f, err := odata.ParseExtended(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var want, got []string
		for _, row := range rows {
			if f.Match(row.Key, row.Timestamp, row.Properties) {
				want = append(want, string(row.Key))
			}
		}
		w.take()
		page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: everything, Filter: f})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for _, row := range page.Rows {
			got = append(got, string(row.Key))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d rows, want %d; expression %s", text, len(got), len(want), expressions(w.take()))
			continue
		}
		matched += len(want)
		for _, c := range w.take() {
			sent += c.reply.Count
			examined += c.reply.ScannedCount
		}
	}
	t.Logf("of %d rows examined, %d matched and %d were sent", examined, matched, sent)
	if extra, out := sent-matched, examined-matched; extra > out*4/10 {
		t.Errorf("of %d rows that do not match, %d were sent", out, extra)
	}
}

func expressions(calls []sent) (list []string) {
	for _, c := range calls {
		list = append(list, c.request.FilterExpression)
	}
	return list
}

// TestLongFilters checks filters that DynamoDB can evaluate only partly, or not at all.
// The expressions must stay within DynamoDB's limits, and the pages must be complete.
func TestLongFilters(t *testing.T) {
	t.Parallel()
	w := new(tap)
	s := open(t, dynamodb.Options{Client: newClient(w), Table: newTable(t), Buckets: 1, Lease: time.Hour})
	create(t, s)
	rows := fillRandom(t, s, rand.New(rand.NewPCG(2, 7)), 50, 3)
	deep := "A eq 1"
	for i := range 60 {
		deep = fmt.Sprintf("(%s) and B ne %d or C eq %d", deep, i, i)
	}
	name := strings.Repeat("N", 255)
	many := func(n int, text, word string) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(text, i)
		}
		return strings.Join(list, word)
	}
	for _, x := range []struct {
		why, text string
		pushed    bool
	}{
		{"a little", "A eq 1", true},
		{"a prefix", "startswith(A,'a')", true},
		{"no prefix", "not startswith(A,'a')", true},
		{"an end", "endswith(A,'a')", true},
		{"another end, of which DynamoDB knows nothing", "not endswith(A,'a')", false},
		{"a part", "contains(A,'b') eq false", true},
		{"a part of a key", "contains(RowKey,'b')", false},
		{"nothing that DynamoDB may judge", "RowKey gt '0010' or PartitionKey eq 'q'", false},
		{"half of it", "RowKey gt '0010' and A eq 1", true},
		{"a disjunction that is too long", many(100, "A eq %d", " or "), false},
		{"a conjunction that is too long", many(400, "A ne %d", " and "), true},
		{"each part as long as can be", many(50, "not (A gt datetime'2026-01-02T03:04:05Z') and P%d gt 1", " and "), true},
		{"deep", deep, true},
		{"long names", name + " eq 1 or " + name + " gt 2", true},
	} {
		f, err := odata.ParseExtended(x.text)
		if err != nil {
			t.Fatalf("%s: %v", x.why, err)
		}
		want := 0
		for _, row := range rows {
			if f.Match(row.Key, row.Timestamp, row.Properties) {
				want++
			}
		}
		w.take()
		page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: everything, Filter: f})
		if err != nil || len(page.Rows) != want {
			t.Errorf("%s: %d rows, want %d; %v", x.why, len(page.Rows), want, err)
		}
		for _, c := range w.take() {
			text := c.request.FilterExpression
			if c.operation == "Query" && (text != "") != x.pushed {
				t.Errorf("%s: expression %q", x.why, text)
			}
			if n := operators(text); len(text) > 4096 || n > 300 {
				t.Errorf("%s: an expression of %d bytes, %d operators", x.why, len(text), n)
			}
			if redundant(text) {
				t.Errorf("%s: redundant parentheses in %s", x.why, text)
			}
		}
	}
}

// operators counts the operators of an expression as DynamoDB does: comparisons,
// functions, and the words AND, OR and NOT.
func operators(text string) (n int) {
	for _, op := range []string{"attribute_", "begins_with", "contains", "=", ">", " AND ", " OR ", "NOT "} {
		n += strings.Count(text, op)
	}
	return n - strings.Count(text, ">=")
}

// redundant reports whether a pair of parentheses contains nothing but another pair.
// DynamoDB refuses such an expression.
func redundant(text string) bool {
	var open []int
	closes := make(map[int]int)
	for i, c := range text {
		switch c {
		case '(':
			open = append(open, i)
		case ')':
			closes[open[len(open)-1]] = i
			open = open[:len(open)-1]
		}
	}
	for i, end := range closes {
		if inner, ok := closes[i+1]; ok && inner == end-1 {
			return true
		}
	}
	return false
}

// TestFilterBudget checks the limit of the bytes that a page may read (the budget). Rows
// that do not match the filter must also use up the budget, because DynamoDB reads these
// rows and charges for them. When the budget is used up, the page must end. The
// continuation token must be after the start of the page.
func TestFilterBudget(t *testing.T) {
	t.Parallel()
	var cost buckets.Cost
	s := open(t, dynamodb.Options{Table: newTable(t), Buckets: 2, Lease: time.Hour, Scanned: func(c buckets.Cost) { cost = c }})
	create(t, s)
	const n = 600
	for i := 0; i < n; i += 100 {
		var batch []table.Mutation
		for j := i; j < i+100; j++ {
			p := edm.AppendProperty(edm.AppendProperty(nil, "N", edm.Int32(int32(j))), "Padding", edm.Binary(make([]byte, 1000)))
			batch = append(batch, table.Mutation{Key: key.Append(nil, fmt.Sprint("p", i/200), fmt.Sprintf("%04d", j)), Properties: p})
		}
		if _, err := s.Commit(t.Context(), people, batch); err != nil {
			t.Fatal(err)
		}
	}
	f, err := odata.ParseExtended("N eq 599")
	if err != nil {
		t.Fatal(err)
	}
	r := table.ScanRequest{Ranges: everything, Filter: f, Rows: 10, ScanBytes: 100_000}
	empty, rows, scanned := 0, 0, 0
	for range 100 {
		page, err := s.Scan(t.Context(), people, r)
		if err != nil {
			t.Fatal(err)
		}
		rows += len(page.Rows)
		scanned += page.Scanned
		if len(page.Rows) == 0 {
			empty++
		}
		if cost.Bytes > 200_000 || cost.Rows < len(page.Rows) {
			t.Errorf("a page with a budget of 100,000 bytes read %d rows, %d bytes", cost.Rows, cost.Bytes)
		}
		if page.Next == nil {
			break
		}
		r.Ranges = key.From(everything, page.Next)
	}
	if rows != 1 || empty < 4 || scanned < n*900 {
		t.Errorf("%d rows in %d empty pages and others, %d bytes were examined; want 1 row, 4 pages or more, %d bytes", rows, empty, scanned, n*1000)
	}
}
