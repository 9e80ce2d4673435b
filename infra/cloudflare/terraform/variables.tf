variable "account_id" {
  description = "ID of the Cloudflare account."
  type        = string
}

variable "zone_id" {
  description = "ID of the zone of the hosts. URL normalization is switched off for all of it."
  type        = string
}

variable "worker" {
  description = "Name of the Worker, as in wrangler.jsonc."
  type        = string
  default     = "edgetable"
}

variable "domains" {
  description = "Names with the accounts in the path, tables.example.com, or of one account each, acme.table.example.com and acme-secondary.table.example.com."
  type        = set(string)
  default     = []
}

variable "wildcard" {
  description = "A name with an account before it, or its secondary host: table.example.com. Null for none."
  type        = string
  default     = null

  validation {
    condition     = var.wildcard == null || startswith(coalesce(var.wildcard, "-"), "table.")
    error_message = "What stands before .table. is an account: the name begins with table."
  }
}

variable "certificate" {
  description = "Order a certificate for the wildcard, which needs Advanced Certificate Manager; false where the zone has one."
  type        = bool
  default     = true
}
