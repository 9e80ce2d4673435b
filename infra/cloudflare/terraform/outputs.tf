output "endpoints" {
  description = "Where the tables of an account are, with ACCOUNT for its name."
  value = concat(
    [for domain in var.domain[*] : "https://${domain}/ACCOUNT"],
    [for wildcard in var.wildcard[*] : "https://ACCOUNT.${wildcard}"],
  )
}
