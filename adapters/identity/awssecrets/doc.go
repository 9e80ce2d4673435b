// Package awssecrets reads texts from AWS Secrets Manager and Parameter Store, and caches the values parsed from them.
//
// It uses only the signer of the AWS SDK. The SDK's clients would add megabytes to the binary.
package awssecrets
