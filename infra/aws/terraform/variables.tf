variable "name" {
  description = "Name of the function, and the beginning of every other name."
  type        = string
  default     = "edgetable"

  validation {
    condition     = can(regex("^[a-zA-Z0-9-]{1,40}$", var.name))
    error_message = "Write 1 to 40 letters, digits and hyphens."
  }
}

variable "code" {
  description = "Path of the zip file with the function's bootstrap."
  type        = string
}

variable "accounts_secret_arn" {
  description = "ARN of the secret that holds the accounts, name:key1[:key2] a line. This or accounts_parameter."
  type        = string
  default     = null
}

variable "accounts_parameter" {
  description = "Name of the SecureString parameter that holds the accounts, from its slash on. This or accounts_secret_arn."
  type        = string
  default     = null

  validation {
    condition     = (var.accounts_parameter == null) != (var.accounts_secret_arn == null)
    error_message = "Give accounts_secret_arn or accounts_parameter, one of the two."
  }
  validation {
    condition     = var.accounts_parameter == null || can(regex("^/[A-Za-z0-9_./-]+$", var.accounts_parameter))
    error_message = "Write the name from its slash on: /edgetable/accounts."
  }
}

variable "forward_secret_arn" {
  description = "ARN of the secret that the distribution of the module domain shows; null without one."
  type        = string
  default     = null
}

variable "lease" {
  description = "How long a process may rely on what it knows of a table, and the least that deleting one takes. 0s reads once more with every operation on entities."
  type        = string
  default     = "2s"

  validation {
    condition     = can(regex("^([0-9](\\.[0-9]+)?s|10s|[0-9]{1,4}ms)$", var.lease))
    error_message = "Write 0s to 10s, such as 500ms or 2s."
  }
}

variable "oidc_issuer" {
  description = "OpenID Connect issuer whose bearer tokens are accepted; null for none."
  type        = string
  default     = null
}

variable "oidc_audiences" {
  description = "Values of which a bearer token must have one in aud, between commas."
  type        = string
  default     = null

  validation {
    condition     = (var.oidc_issuer == null) == (var.oidc_audiences == null)
    error_message = "Give oidc_issuer and oidc_audiences together."
  }
}

variable "memory" {
  description = "Memory of the function in MB; processor time grows with it."
  type        = number
  default     = 512
}

variable "buckets" {
  description = "Hash keys that a new table is spread over. Tables that exist keep theirs."
  type        = number
  default     = 8

  validation {
    condition     = var.buckets >= 1 && var.buckets <= 256
    error_message = "1 to 256 buckets."
  }
}

variable "scanned_bytes" {
  description = "Bytes that one page of a query may read before it ends with a continuation."
  type        = number
  default     = 8388608
}

variable "concurrency" {
  description = "Requests served at a time, and so the most that strangers can make you spend. 0 reserves and limits nothing."
  type        = number
  default     = 50
}

variable "streaming" {
  description = "Stream responses instead of buffering them up to 6 MB."
  type        = bool
  default     = false
}

variable "extensions" {
  description = "Answer what the service does not have, such as startswith in filters, $orderby and /$count."
  type        = bool
  default     = false
}

variable "log_retention" {
  description = "Days that logs are kept."
  type        = number
  default     = 30
}

variable "purge_schedule" {
  description = "When the rows of deleted tables and leftovers of large entities are removed. Not below the 14 minutes of one run."
  type        = string
  default     = "rate(15 minutes)"
}

variable "alarm_topic_arn" {
  description = "SNS topic that alarms go to; null for alarms that only show in the console."
  type        = string
  default     = null
}

variable "alarm_duration" {
  description = "Milliseconds that 99 of 100 requests should take at most."
  type        = number
  default     = 2000
}

variable "kms_key_arn" {
  description = "Key that encrypts the table and the logs, and with which the accounts may be encrypted; null for the keys of AWS."
  type        = string
  default     = null
}

variable "restored_table" {
  description = "Name of a table to be served instead of the table of this module, one restored from a point in time, or a replica of a global table."
  type        = string
  default     = null
}

variable "role" {
  description = "What this Region is: alone; primary, which writes and tells secondaries in other Regions their age; or secondary, which serves reads of a replica alone."
  type        = string
  default     = "alone"

  validation {
    condition     = contains(["alone", "primary", "secondary"], var.role)
    error_message = "Write alone, primary or secondary."
  }
}
