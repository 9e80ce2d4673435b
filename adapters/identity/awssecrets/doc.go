// Package awssecrets reads texts from AWS Secrets Manager and from the Parameter Store of Systems Manager. A [Cache]
// caches the parsed text and refreshes it.
//
// A read is one signed POST with a JSON body. The package uses only the signer of the AWS SDK, because the SDK's
// clients would add megabytes to the binary and time to its start.
package awssecrets
