// Package awssecrets reads texts from AWS Secrets Manager, and from the Parameter Store of Systems Manager.
//
// Each read is one signed POST with a JSON body. The SDK clients for these services would add megabytes to the binary
// and time to its start, so the package uses only the SDK's signer. A [Cache] caches the parsed text and refreshes it
// within minutes.
package awssecrets
