package backup

import "edgetable/functions/edgetable/cli"

// program is shared by the commands for backups.
type program struct {
	*cli.Terminal
}

// placeHelp explains, in the help of each command, that a place is a directory or a prefix in a
// bucket.
const placeHelp = `PLACE is the backup location: a directory, or a bucket of S3: s3://BUCKET/PREFIX, with ?endpoint=https://HOST&region=REGION after it if
needed. Credentials come from the environment, as for AWS's own programs.`
