variable "name" {
  description = "Comment of the distribution, and the beginning of its function's name."
  type        = string
  default     = "edgetable"
}

variable "endpoint" {
  description = "Output endpoint of the module edgetable."
  type        = string
}

variable "domain_name" {
  description = "The host name, table.example.com for paths with the account or *.table.example.com for hosts with it."
  type        = string
}

variable "certificate_arn" {
  description = "Certificate of domain_name, in the region where CloudFront looks for certificates."
  type        = string
}

variable "forward_secret_arn" {
  description = "The same secret as in the module edgetable. The function believes X-Forwarded-Host of those alone who show it."
  type        = string
}

variable "web_acl_arn" {
  description = "Web ACL of the distribution, for address rules and rate limits; null for none."
  type        = string
  default     = null
}
