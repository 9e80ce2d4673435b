package clients_test

import (
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// account is what a connection string says. Its endpoint ends with a slash, without which the SDK glues the table's name
// to the account's (GetTableSASURL).
type account struct {
	name, endpoint string
	credential     *aztables.SharedKeyCredential
}

func home(t *testing.T) account {
	t.Helper()
	return parseAccount(t, os.Getenv(connectionVariable))
}

func parseAccount(t *testing.T, connection string) account {
	t.Helper()
	parts := map[string]string{}
	for part := range strings.SplitSeq(connection, ";") {
		name, value, _ := strings.Cut(part, "=")
		parts[name] = value
	}
	credential, err := aztables.NewSharedKeyCredential(parts["AccountName"], parts["AccountKey"])
	if err != nil {
		t.Fatal(err)
	}
	return account{parts["AccountName"], strings.TrimSuffix(parts["TableEndpoint"], "/") + "/", credential}
}

// secondary is the endpoint of the account's read-only copy: in a path or a host, the name with a suffix.
func (a account) secondary() string {
	last := strings.LastIndex(a.endpoint, a.name)
	return a.endpoint[:last] + a.name + "-secondary" + a.endpoint[last+len(a.name):]
}

// owner is the account's service with its key.
func (a account) owner(t *testing.T, options *aztables.ClientOptions) *aztables.ServiceClient {
	t.Helper()
	service, err := aztables.NewServiceClientWithSharedKey(a.endpoint, a.credential, options)
	if err != nil {
		t.Fatal(err)
	}
	return service
}

// An hour ago and an hour from now. They are in UTC, because the SDK writes the times of signatures with a Z for every zone.
// They are whole seconds, because it writes nine digits of a second in policies, and the service has seven.
var (
	past   = time.Now().UTC().Add(-time.Hour).Truncate(time.Second)
	future = time.Now().UTC().Add(time.Hour).Truncate(time.Second)
)

// signedTable signs values and returns a client of the table that has nothing else. Without an expiry and a policy it is
// valid for an hour.
func (a account) signedTable(t *testing.T, values aztables.SASSignatureValues) *aztables.Client {
	t.Helper()
	if values.ExpiryTime.IsZero() && values.Identifier == "" {
		values.ExpiryTime = future
	}
	query, err := values.Sign(a.credential)
	if err != nil {
		t.Fatal(err)
	}
	return a.withSAS(t, values.TableName, withRange(t, query, values))
}

// withRange adds the range of keys to a query: aztables 1.4.1 signs it but leaves it out of the query, so the service would
// refuse the signature.
func withRange(t *testing.T, query string, values aztables.SASSignatureValues) string {
	t.Helper()
	parameters, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"spk": values.StartPartitionKey, "srk": values.StartRowKey, "epk": values.EndPartitionKey, "erk": values.EndRowKey,
	} {
		if value != "" {
			parameters.Set(name, value)
		}
	}
	return parameters.Encode()
}

func (a account) withSAS(t *testing.T, table, query string) *aztables.Client {
	t.Helper()
	client, err := aztables.NewClientWithNoCredential(a.endpoint+table+"?"+query, noRetries())
	if err != nil {
		t.Fatal(err)
	}
	return client
}
