package repository

// Names of objects.
const (
	formatName = "format"
	dataDir    = "objects/"
	backupDir  = "backups/"
	nameDir    = "names/"
	runDir     = "unfinished/"
)
