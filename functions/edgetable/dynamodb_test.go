package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// endings are functions that run after all tests. They remove what several tests use together.
var endings []func()

func TestMain(m *testing.M) {
	// The SDK reads these variables from this process, not from the environment that a test passes to
	// its program. Set all these variables, so that the settings of this machine have no effect.
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "",
		"AWS_REGION": "", "AWS_DEFAULT_REGION": "", "AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_DYNAMODB": "",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		os.Setenv(name, value)
	}
	code := m.Run()
	for _, leak := range leaks() {
		fmt.Fprintln(os.Stderr, leak)
		code = 1
	}
	for _, end := range endings {
		end()
	}
	os.Exit(code)
}

// TestDynamoDBMistakes checks that a server with wrong settings stops before it listens, and that the
// errors say what to do.
func TestDynamoDBMistakes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args, want string
		status     int
	}{
		{"serve --store sqlite", "write embedded, ", 2},
		{"serve --store dynamodb", "name the DynamoDB table with --dynamodb-table", 2},
		{"serve --dynamodb-table t", "--dynamodb-table is for --store dynamodb, not embedded", 2},
		{"serve --store dynamodb --dynamodb-table t --memory", "--memory is for --store embedded, not dynamodb", 2},
		{"serve --store dynamodb --dynamodb-table t --dynamodb-buckets 0", "write a whole number from 1 to 256", 2},
		{"serve --store dynamodb --dynamodb-table t --scanned-bytes 7", "unknown flag: --scanned-bytes", 2},
		{"serve --store dynamodb --dynamodb-table t --dynamodb-endpoint localhost:8000", "--dynamodb-endpoint must be a URL such as http://127.0.0.1:8000", 2},
		{"serve --store dynamodb --dynamodb-table t --dynamodb-endpoint http://user:password@127.0.0.1:8000", "--dynamodb-endpoint must not contain a user or password", 2},
		{"serve --store dynamodb --dynamodb-table t --dynamodb-lease -1s", "from 0s to 10s", 2},
		{"serve --store dynamodb --dynamodb-table t --dynamodb-lease 11s", "from 0s to 10s", 2},
		{"serve --store dynamodb --dynamodb-table t --dynamodb-role follower", "write alone, primary or secondary", 2},
		{"serve --dynamodb-role secondary", "--dynamodb-role is for --store dynamodb, not embedded", 2},
		{"dynamodb heartbeat", "name the DynamoDB table with --dynamodb-table", 2},
		{"serve --listen 127.0.0.1:0 --store dynamodb --dynamodb-table t --dynamodb-endpoint http://127.0.0.1:1", "no AWS Region is set: set it with --dynamodb-region", 1},
		{"dynamodb", "a command is missing: create, heartbeat or rebucket", 2},
		{"dynamodb drop", `unknown command "drop": use create, heartbeat or rebucket`, 2},
		{"dynamodb --help", "", 0},
		{"dynamodb rebucket", "TABLE is missing", 2},
		{"dynamodb rebucket people", "name the account of the table with --account", 2},
		{"dynamodb rebucket --account a 1x", `"1x" is not a table name`, 2},
		{"dynamodb rebucket --account a people", "give the number of hash keys with --buckets", 2},
		{"dynamodb rebucket --account a --buckets 2 --abort people", "--abort and --buckets exclude each other", 2},
		{"dynamodb rebucket --account a --buckets 2 --max-pause -1s people", "write a duration", 2},
		{"dynamodb rebucket --account a --buckets 2 people", "name the DynamoDB table with --dynamodb-table", 2},
		{"table --help", `unknown command "table"; do you mean tables?`, 2},
	} {
		t.Run(test.args, func(t *testing.T) {
			t.Parallel()
			status, _, stderr := runUntil(t.Context(), nil, strings.Fields(test.args)...)
			if status != test.status || !strings.Contains(stderr, test.want) {
				t.Errorf("status %d, want %d and %q:\n%s", status, test.status, test.want, stderr)
			}
		})
	}
}
