// Lambda serves tables from DynamoDB behind a Function URL, a REST API or a load balancer. It runs on provided.al2023
// under the name bootstrap:
//
//	GOOS=linux GOARCH=arm64 CGO_ENABLED=0 go build -tags lambda.norpc -trimpath -ldflags "-s -w" -o bootstrap ./functions/lambda
//
// # Environment
//
//	EDGETABLE_DYNAMODB_TABLE       the DynamoDB table; required
//	EDGETABLE_ROLE                 alone: there is no other Region; primary: a secondary in another Region reads a replica of the
//	                               DynamoDB table; secondary: this is the secondary, which only serves reads; default alone
//	EDGETABLE_ACCOUNTS_SECRET      name or ARN of a secret in Secrets Manager that contains the accounts
//	EDGETABLE_ACCOUNTS_PARAMETER   name or ARN of a parameter in the Parameter Store that contains the accounts
//	EDGETABLE_ACCOUNTS             the accounts: name:key1[:key2] between semicolons or line ends.
//	                               Set exactly one of these three variables
//	EDGETABLE_ACCOUNTS_REFRESH     how often the accounts are read again; default 5m
//	EDGETABLE_FORWARD_SECRET       name or ARN of the secret of a proxy whose X-Forwarded-Host is trusted
//	EDGETABLE_STREAMING            true: the Function URL is in the mode RESPONSE_STREAM
//	EDGETABLE_OIDC_ISSUER          URL of the OpenID Connect issuer whose bearer tokens are accepted, as in their claim iss
//	EDGETABLE_OIDC_AUDIENCES       accepted values of aud, between commas; required with an issuer
//	EDGETABLE_OIDC_JWKS            URL of the issuer's keys; default from its discovery document
//	EDGETABLE_OIDC_ROLES_CLAIM     claim with the roles; default roles
//	EDGETABLE_OIDC_READERS         roles that may read, between commas; default Storage Table Data Reader
//	EDGETABLE_OIDC_CONTRIBUTORS    roles that may read and write; default Storage Table Data Contributor
//	EDGETABLE_BUCKETS              number of hash keys over which a new table is spread; default 8
//	EDGETABLE_LEASE                how long a process may cache that a table exists; deleting a table takes at least this time.
//	                               All functions on one DynamoDB table must have the same value; 0s: read with each request;
//	                               default 2s
//	EDGETABLE_SETTINGS_AGE         how long a process may cache the CORS rules of an account; 0s: read with each
//	                               request; default 30s, as in Azure
//	EDGETABLE_SCANNED_BYTES        bytes that a page of a query may read; default 8 MiB
//	EDGETABLE_PATH_STYLE           true: the account is in the path whatever the host is
//	EDGETABLE_EXTENSIONS           true: functions in filters, $orderby and /$count, which Azure does not have
//	EDGETABLE_METRICS              namespace of the metrics; default edgetable
//	AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL_SECRETS_MANAGER, AWS_ENDPOINT_URL_SSM, AWS_ENDPOINT_URL
//
// Any other variable whose name begins with EDGETABLE_ has no effect, and the log names it.
//
// Region and credentials come from Lambda. There are no rate limits per account, because the processes of the function
// share no counters. Use reserved concurrency to limit the load. The function contacts no other service before the
// first request, so a cold start costs no more than starting the process.
//
// The event {"purge":true} removes the items of deleted tables, and expired entities. The event {"heartbeat":true},
// sent once a minute, writes the heartbeats from which a secondary computes its lag, and fails if another Region writes
// too. In a secondary, it fails if the replica is not live.
package main

import (
	"log/slog"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/aws/aws-lambda-go/lambda"

	"edgetable/adapters/transport/lambdaurl"
	"edgetable/core/table"
)

func main() {
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	limitMemory(os.Getenv)
	h, streaming := newFunction(os.Getenv, os.Environ(), log)
	if streaming {
		lambda.Start(h.Stream)
	} else {
		lambda.Start(h)
	}
	log.Error("lambda.Start has returned") // this line is not reached, because lambda.Start exits the process
	os.Exit(1)
}

// newFunction returns the function for an environment; all is the whole environment as name=value. If the configuration
// is wrong, the function answers with status 500: Lambda would restart a process that exits.
func newFunction(env func(string) string, all []string, log *slog.Logger) (h *lambdaurl.Handler, streaming bool) {
	read := make(map[string]bool) // variables of edgetable that newConfig reads
	c, err := newConfig(func(name string) string {
		if strings.HasPrefix(name, ownVariables) { // later calls, which are concurrent, read only other variables
			read[name] = true
		}
		return env(name)
	}, log)
	var store table.Store
	var tasks *worker
	if err == nil {
		logUnread(all, read, log)
		store, tasks, err = openStore(c)
	}
	if err != nil {
		log.Error("the function cannot serve", "cause", err)
		return newMisconfigured(err, env("EDGETABLE_METRICS"), log), env("EDGETABLE_STREAMING") == "true"
	}
	return newHandler(c, store, tasks, log), c.streaming
}

const ownVariables = "EDGETABLE_"

// logUnread logs the variables of edgetable that the function does not read, because their names may be misspelled.
// They may also be variables of new code, during a deployment.
func logUnread(all []string, read map[string]bool, log *slog.Logger) {
	for _, v := range all {
		name, value, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, ownVariables) && value != "" && !read[name] {
			log.Warn("the function does not read this variable", "variable", name)
		}
	}
}

// limitMemory sets the memory limit of Go to three quarters of the function's memory. GOMEMLIMIT takes precedence.
func limitMemory(env func(string) string) {
	mib, err := strconv.ParseInt(env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE"), 10, 64)
	if err == nil && mib > 0 && env("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(mib << 20 * 3 / 4)
	}
}
