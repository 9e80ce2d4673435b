package dynamodb_test

import (
	"cmp"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/core/edm"
	"edgetable/testdata/must"
)

// copier replicates one DynamoDB table to another one as a global table does. The copier
// delays each change. It keeps the order of the changes of one item, but not the order of
// changes of different items.
type copier struct {
	t        *testing.T
	client   *sdk.Client
	from, to string
	rand     *rand.Rand

	lag     edm.Ticks              // minimum delay of each change
	reorder edm.Ticks              // maximum extra delay, during which later changes may overtake a change
	holds   func(hash []byte) bool // reports whether the copier holds back changes with this hash key; nil holds back none
	seen    map[string]image       // the items of the source table at the last call of the method note
	waiting []change               // changes that are not replicated yet, in the order in which the copier will replicate them
	last    map[string]edm.Ticks   // the position of each item's newest change in the replication order, by the item's key
}

type image = map[string]types.AttributeValue

type change struct {
	key   string
	at    edm.Ticks // time of the change
	place edm.Ticks
	image image
	gone  bool
}

func newCopier(t *testing.T, from, to string, seed uint64) *copier {
	return &copier{
		t: t, client: newClient(nil), from: from, to: to, rand: rand.New(rand.NewPCG(seed, 7)),
		seen: make(map[string]image), last: make(map[string]edm.Ticks),
	}
}

func keyOf(it image) string {
	return string(binaryAttr(it[".p"])) + "\xff\xff" + string(binaryAttr(it[".s"]))
}

func binaryAttr(a types.AttributeValue) []byte { return a.(*types.AttributeValueMemberB).Value }

// note compares the source table with its items at the last call, and queues the changes
// for replication.
func (c *copier) note(now edm.Ticks) {
	c.t.Helper()
	all := make(map[string]image)
	for start := image(nil); ; {
		out, err := c.client.Scan(c.t.Context(), &sdk.ScanInput{TableName: aws.String(c.from), ConsistentRead: aws.Bool(true), ExclusiveStartKey: start})
		must.OK(c.t, err)
		for _, it := range out.Items {
			all[keyOf(it)] = it
		}
		if start = out.LastEvaluatedKey; start == nil {
			break
		}
	}
	var changes []change
	for key, it := range all {
		if !reflect.DeepEqual(c.seen[key], it) {
			changes = append(changes, change{key: key, at: now, image: it})
		}
	}
	for key, it := range c.seen {
		if all[key] == nil {
			changes = append(changes, change{key: key, at: now, image: it, gone: true})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.key, b.key) }) // in a fixed order, so that each run of the test is the same
	for _, d := range changes {
		overtaken := edm.Ticks(c.rand.Int64N(int64(c.reorder) + 1))
		if d.key[0] == 'H' { // the worst case: a heartbeat arrives before all other changes
			overtaken = 0
		}
		d.place = max(now+overtaken, c.last[d.key]+1)
		c.last[d.key] = d.place
		c.waiting = append(c.waiting, d)
	}
	slices.SortStableFunc(c.waiting, func(a, b change) int { return cmp.Compare(a.place, b.place) })
	c.seen = all
}

// copy replicates the queued changes whose delay has passed.
func (c *copier) copy(now edm.Ticks) {
	c.t.Helper()
	var left []change
	for _, d := range c.waiting {
		if d.place > now-c.lag || c.holds != nil && c.holds(binaryAttr(d.image[".p"])) {
			left = append(left, d)
			continue
		}
		var err error
		if d.gone {
			_, err = c.client.DeleteItem(c.t.Context(), &sdk.DeleteItemInput{TableName: aws.String(c.to), Key: image{".p": d.image[".p"], ".s": d.image[".s"]}})
		} else {
			_, err = c.client.PutItem(c.t.Context(), &sdk.PutItemInput{TableName: aws.String(c.to), Item: d.image})
		}
		must.OK(c.t, err)
	}
	c.waiting = left
}
