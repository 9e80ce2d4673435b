package repository

// Names of objects, or of their folders, in the backup location.
const (
	formatName = "format"
	dataDir    = "objects/"
	backupDir  = "backups/"
	nameDir    = "names/"
	runDir     = "unfinished/"
)
