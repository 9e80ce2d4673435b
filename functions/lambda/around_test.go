package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/adapters/store/dynamodb"
	dynamodblocal "edgetable/testdata/dynamodb/local"
	"edgetable/testdata/must"
	"edgetable/testdata/needs"
)

// databaseURL starts DynamoDB Local and returns its URL. All tests use the same instance.
var databaseURL = sync.OnceValues(func() (string, error) {
	url, stop, err := dynamodblocal.Start()
	if err == nil {
		endings = append(endings, stop)
	}
	return url, err
})

// bootstrap builds the program as for a deployment, but for the processor of this machine. All tests use the
// same file.
var bootstrap = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "edgetable-lambda")
	if err != nil {
		return "", err
	}
	endings = append(endings, func() { os.RemoveAll(dir) })
	return build(dir, runtime.GOARCH)
})

// build builds the program for an architecture and returns the path of the binary.
func build(dir, arch string) (string, error) {
	file := filepath.Join(dir, "bootstrap")
	cmd := exec.Command("go", "build", "-tags", "lambda.norpc", "-trimpath", "-ldflags", "-s -w", "-o", file, ".")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return file, nil
}

// emulatorPath returns the path of Lambda's Runtime Interface Emulator.
var emulatorPath = sync.OnceValues(func() (string, error) {
	cmd := exec.Command("../../testdata/lambda/rie")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
})

// mustMake returns the result of f. If f returns an error, the test fails. f was made by sync.OnceValues.
func mustMake(t testing.TB, f func() (string, error)) string {
	t.Helper()
	needs.These(t, needs.AWS)
	s, err := f()
	must.OK(t, err)
	return s
}

// database returns a client of DynamoDB Local.
func database(url string) *sdk.Client {
	return sdk.New(sdk.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(url),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	})
}

// environment creates a DynamoDB table. It returns the environment of a Lambda function that uses this
// table.
func environment(t testing.TB, more ...string) []string {
	t.Helper()
	needs.These(t, needs.AWS)
	url, name := mustMake(t, databaseURL), "edgetable-"+strings.ReplaceAll(t.Name(), "/", "-")
	client := database(url)
	must.OK(t, dynamodb.Create(t.Context(), client, name))
	t.Cleanup(func() {
		_, err := client.DeleteTable(context.Background(), &sdk.DeleteTableInput{TableName: &name})
		if gone := (*types.ResourceNotFoundException)(nil); err != nil && !errors.As(err, &gone) {
			t.Errorf("DeleteTable: %v", err)
		}
	})
	return append([]string{
		"AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
		"AWS_LAMBDA_FUNCTION_TIMEOUT=30", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=512",
		"AWS_ENDPOINT_URL_DYNAMODB=" + url, "EDGETABLE_DYNAMODB_TABLE=" + name,
	}, more...)
}
