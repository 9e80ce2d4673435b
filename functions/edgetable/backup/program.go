package backup

import "edgetable/functions/edgetable/cli"

type program struct {
	*cli.Terminal
}

// placeHelp is the part of the help of each command that describes the backup location.
const placeHelp = `PLACE is the backup location: a directory, or a bucket of S3: s3://BUCKET/PREFIX, with ?endpoint=https://HOST&region=REGION after it if
needed. Credentials come from the environment, as for AWS's own programs.`
