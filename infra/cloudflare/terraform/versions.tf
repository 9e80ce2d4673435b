# The hosts of a Worker that was deployed by wrangler: the provider has no way to make a Worker that has both a class of
# Durable Objects and WebAssembly (https://github.com/cloudflare/terraform-provider-cloudflare/issues/6852). The keys of
# the accounts so stay out of the state.
#
# The credentials are those of the provider that the caller configures: a token that may edit the routes and domains of
# Workers, and of the zone DNS, certificates and settings.
terraform {
  required_version = ">= 1.9"

  required_providers {
    cloudflare = {
      source = "cloudflare/cloudflare"
      # the tests know the schema of 5.14
      version = ">= 5.14.0, < 6.0.0"
    }
  }
}
