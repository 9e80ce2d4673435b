package backup

import "edgetable/functions/edgetable/cli"

// program is what the commands for backups share.
type program struct {
	*cli.Terminal
}

// placeHelp says what a place is, in the help of each command.
const placeHelp = `PLACE is a directory, or a bucket of S3: s3://BUCKET/PREFIX, with
?endpoint=https://HOST&region=REGION after it where needed. Credentials come from the
environment, as for AWS's own programs.`
