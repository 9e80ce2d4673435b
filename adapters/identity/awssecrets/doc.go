// Package awssecrets reads a text from AWS Secrets Manager, or from the Parameter Store of Systems Manager.
//
// Each read is one signed POST with a JSON body. The two SDK clients for it would add megabytes to the binary and
// time to its start, so only the SDK's signer is used. A [Cache] keeps the parsed text and refreshes it within
// minutes.
package awssecrets
