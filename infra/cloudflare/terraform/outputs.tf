output "endpoints" {
  description = "Where the tables of an account are, with ACCOUNT for its name."
  value = concat(
    [for domain in var.domains : can(regex("^[^.]+\\.table\\.", domain)) ? "https://${domain}" : "https://${domain}/ACCOUNT"],
    [for wildcard in var.wildcard[*] : "https://ACCOUNT.${wildcard}"],
    [for wildcard in var.wildcard[*] : "https://ACCOUNT-secondary.${wildcard}"],
  )
}
