package main

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"edgetable/core/accounts"
	"edgetable/testdata/must"
	"edgetable/testdata/needs"
)

// replicate copies all items from one Region to another. It stands in for a global table, because
// the Regions of DynamoDB Local are separate.
func replicate(t *testing.T, name, from, to string) {
	t.Helper()
	needs.These(t, needs.AWS)
	url, err := localDynamoDB()
	must.OK(t, err)
	client := func(region string) *sdk.Client {
		return sdk.New(sdk.Options{Region: region, BaseEndpoint: aws.String(url), Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")})
	}
	out, err := client(from).Scan(t.Context(), &sdk.ScanInput{TableName: &name})
	must.OK(t, err)
	for _, it := range out.Items {
		_, err := client(to).PutItem(context.Background(), &sdk.PutItemInput{TableName: &name, Item: it})
		must.OK(t, err)
	}
}

// TestDynamoDBSecondary checks a server that is a secondary on a replica of the DynamoDB table. The
// primary writes heartbeats, from which the secondary computes the age of its data. The secondary
// must serve reads, refuse writes, report this age, and be ready as soon as it knows the age.
func TestDynamoDBSecondary(t *testing.T) {
	t.Parallel()
	first := dynamodbTable(t, "twice")
	second := []string{"--dynamodb-table", "twice", "--dynamodb-region", "eu-west-1", first[4], first[5]}
	if status, _, stderr := runUntil(t.Context(), nil, append([]string{"dynamodb", "create"}, second...)...); status != 0 {
		t.Fatal(stderr)
	}
	own := map[string]string{accounts.Variable: "acme:" + key1}
	a := start(t, own, append(first, "--store", "dynamodb", "--dynamodb-role", "primary")...)
	a.client(t, key1).fill(t)
	b := start(t, own, append(second, "--store", "dynamodb", "--dynamodb-role", "secondary", "--metrics-listen", "127.0.0.1:0")...)
	reader := b.client(t, key1)
	stats := func() string { return reader.do(t, "GET", "/?restype=service&comp=stats", "", 200) }
	if text := stats(); !strings.Contains(text, "<Status>bootstrap</Status><LastSyncTime></LastSyncTime>") {
		t.Errorf("before the first heartbeat: %s", text)
	}
	ready := func() int {
		resp, err := http.Get(strings.TrimSuffix(reader.endpoint, "/acme") + "/_/ready")
		must.OK(t, err)
		must.OK(t, resp.Body.Close())
		return resp.StatusCode
	}
	if status := ready(); status != 503 {
		t.Errorf("before the first heartbeat the secondary is ready: %d", status)
	}
	status, out, stderr := runUntil(t.Context(), nil, append([]string{"dynamodb", "heartbeat"}, first...)...)
	if status != 0 || !strings.Contains(out, "has a heartbeat of ") {
		t.Fatalf("status %d: %s%s", status, out, stderr)
	}
	replicate(t, "twice", "us-east-1", "eu-west-1")
	eventually(t, "the secondary is live", b, func() bool {
		text := stats()
		return strings.Contains(text, "<Status>live</Status>") && !strings.Contains(text, "<LastSyncTime></LastSyncTime>")
	})
	eventually(t, "the secondary is ready", b, func() bool { return ready() == 200 })
	reader.filled(t)
	if text := reader.do(t, "PUT", ada, `{"Name":"Eve"}`, 403); !strings.Contains(text, "InsufficientAccountPermissions") {
		t.Errorf("a write: %s", text)
	}
	m := b.scrape(t, "")
	if behind := sumOf(t, m, "secondary_behind_seconds"); behind < 60 || behind > 3600 || sumOf(t, m, "secondary") != 1 {
		t.Errorf("behind %v seconds, secondary %v", behind, sumOf(t, m, "secondary"))
	}
	status, _, stderr = runUntil(t.Context(), nil, append([]string{"dynamodb", "rebucket", "--account", "acme", "--buckets", "3", "people"}, first...)...)
	if status != 1 || !strings.Contains(stderr, "stop the heartbeats") || strings.Contains(stderr, "run it again") {
		t.Errorf("rebucket: status %d: %s", status, stderr)
	}
	// A global table of DynamoDB has replicas in several AWS Regions. Only the server in one Region may
	// write heartbeats.
	status, _, stderr = runUntil(t.Context(), nil, append([]string{"dynamodb", "heartbeat"}, second...)...)
	if status != 1 || !strings.Contains(stderr, "the Region us-east-1 writes to the same global table: only one Region may") {
		t.Errorf("status %d: %s", status, stderr)
	}
	a.ends(t)
	b.ends(t)
	// With another flag, the secondary becomes the primary.
	c := start(t, own, append(second, "--store", "dynamodb", "--dynamodb-role", "primary")...).client(t, key1)
	c.filled(t)
	c.do(t, "PUT", ada, `{"Name":"Ada","Born":1815}`, http.StatusNoContent)
}
