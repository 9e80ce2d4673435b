package clients_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

const connectionVariable = "EDGETABLE_CONNECTION_STRING"

func TestMain(m *testing.M) {
	if os.Getenv(connectionVariable) == "" {
		fmt.Fprintln(os.Stderr, connectionVariable+" is not set: these tests need a running server")
		os.Exit(1)
	}
	status := m.Run()
	if built.folder != "" {
		_ = os.RemoveAll(built.folder)
	}
	os.Exit(status)
}

// fields contains the JSON members of an entity, or some of them. Annotations are members, too.
type fields map[string]any

// The HTTP client connections closes its idle connections after one second. workerd closes a connection that was
// idle for five seconds. If the client sent a request at the moment when workerd closes the connection, the request
// would fail.
var connections = &http.Client{Transport: &http.Transport{IdleConnTimeout: time.Second, MaxIdleConnsPerHost: 10}}

// noRetries disables the SDK's retries, so that a 5xx response fails the test at once.
func noRetries() *aztables.ClientOptions {
	return &aztables.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: connections, Retry: policy.RetryOptions{MaxRetries: -1}}}
}

func newService(t *testing.T) *aztables.ServiceClient {
	t.Helper()
	service, err := aztables.NewServiceClientFromConnectionString(os.Getenv(connectionVariable), noRetries())
	if err != nil {
		t.Fatalf("connection string: %v", err)
	}
	return service
}

// newName returns a legal and unique table name. It is in mixed case, because the service preserves case.
func newName(t *testing.T) string {
	t.Helper()
	random := make([]byte, 10)
	if _, err := rand.Read(random); err != nil {
		t.Fatal(err)
	}
	return "Go" + hex.EncodeToString(random)
}

// newTable creates a table that is deleted when the test ends.
func newTable(t *testing.T) *aztables.Client {
	t.Helper()
	_, client := newNamedTable(t)
	return client
}

func newNamedTable(t *testing.T) (string, *aztables.Client) {
	t.Helper()
	name := newName(t)
	client := newService(t).NewClient(name)
	if _, err := client.CreateTable(t.Context(), nil); err != nil {
		t.Fatalf("create table %s: %v", name, err)
	}
	t.Cleanup(func() {
		if _, err := client.Delete(context.Background(), nil); err != nil {
			t.Errorf("delete table %s: %v", name, err)
		}
	})
	return name, client
}

// entity encodes an entity with the given keys.
func entity(t *testing.T, partition, row string, properties fields) []byte {
	t.Helper()
	members := fields{}
	maps.Copy(members, properties)
	members["PartitionKey"], members["RowKey"] = partition, row
	return encode(t, members)
}

func encode(t *testing.T, members fields) []byte {
	t.Helper()
	encoded, err := json.Marshal(members)
	if err != nil {
		t.Fatalf("encode entity: %v", err)
	}
	return encoded
}

func add(t *testing.T, client *aztables.Client, partition, row string, properties fields) azcore.ETag {
	t.Helper()
	response, err := client.AddEntity(t.Context(), entity(t, partition, row, properties), nil)
	if err != nil {
		t.Fatalf("add (%q, %q): %v", partition, row, err)
	}
	if response.ETag == "" {
		t.Fatalf("add (%q, %q): no ETag", partition, row)
	}
	return response.ETag
}

func get(t *testing.T, client *aztables.Client, partition, row string) fields {
	t.Helper()
	response, err := client.GetEntity(t.Context(), partition, row, nil)
	if err != nil {
		t.Fatalf("get (%q, %q): %v", partition, row, err)
	}
	return decode(t, response.Value)
}

func decode(t *testing.T, encoded []byte) fields {
	t.Helper()
	var members fields
	if err := json.Unmarshal(encoded, &members); err != nil {
		t.Fatalf("decode %.200q: %v", encoded, err)
	}
	return members
}

// custom returns the members of an entity that are neither keys, Timestamp nor annotations.
func (f fields) custom() fields {
	own := fields{}
	for name, value := range f {
		system := name == "PartitionKey" || name == "RowKey" || name == "Timestamp"
		if !system && !strings.HasPrefix(name, "odata.") && !strings.Contains(name, "@odata.") {
			own[name] = value
		}
	}
	return own
}

// wire executes a call of the SDK. It returns the body of the HTTP response, which the SDK keeps in memory.
func wire(t *testing.T, call func(ctx context.Context) error) []byte {
	t.Helper()
	var response *http.Response
	if err := call(policy.WithCaptureResponse(t.Context(), &response)); err != nil {
		t.Fatalf("call: %v", err)
	}
	body, err := runtime.Payload(response)
	if err != nil {
		t.Fatalf("read captured response: %v", err)
	}
	return body
}

// wantError checks the status and the error code in the error that the SDK returns.
func wantError(t *testing.T, err error, status int, code string) {
	t.Helper()
	var failure *azcore.ResponseError
	switch {
	case err == nil:
		t.Errorf("got success, want %d %s", status, code)
	case !errors.As(err, &failure):
		t.Errorf("got %v, want a response error %d %s", err, status, code)
	case failure.StatusCode != status || failure.ErrorCode != code:
		t.Errorf("got %d %q, want %d %q", failure.StatusCode, failure.ErrorCode, status, code)
	}
}

// list returns the row keys of all entities that the options select, over all pages, in the order of the responses.
func list(t *testing.T, client *aztables.Client, options *aztables.ListEntitiesOptions) []string {
	t.Helper()
	rows := []string{}
	for pager := client.NewListEntitiesPager(options); pager.More(); {
		page, err := pager.NextPage(t.Context())
		if err != nil {
			t.Fatalf("list: %v", err)
		}
		rows = append(rows, rowKeys(t, page.Entities)...)
	}
	return rows
}

func rowKeys(t *testing.T, entities [][]byte) []string {
	t.Helper()
	rows := []string{}
	for _, encoded := range entities {
		row, ok := decode(t, encoded)["RowKey"].(string)
		if !ok {
			t.Fatalf("entity without RowKey: %.200q", encoded)
		}
		rows = append(rows, row)
	}
	return rows
}

func wantRows(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("rows: got %q, want %q", got, want)
	}
}

func deleteTable(t *testing.T, service *aztables.ServiceClient, name string) {
	t.Helper()
	if _, err := service.DeleteTable(context.Background(), name, nil); err != nil {
		t.Errorf("delete table %s: %v", name, err)
	}
}

// wantStatus checks only the status of a refusal, because Azure's documentation does not specify its error code.
func wantStatus(t *testing.T, err error, status int) {
	t.Helper()
	var failure *azcore.ResponseError
	if !errors.As(err, &failure) || failure.StatusCode != status {
		t.Errorf("got %v, want a response error %d", err, status)
	}
}
