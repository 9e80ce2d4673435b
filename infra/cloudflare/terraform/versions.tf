# The hosts of a Worker that was deployed with wrangler. The provider cannot create a Worker with both a class of
# Durable Objects and WebAssembly (https://github.com/cloudflare/terraform-provider-cloudflare/issues/6852). As a
# result, the account keys are not in the state.
#
# The caller configures the credentials of the provider. The token must be able to edit the routes and domains of
# Workers, and the DNS records, certificates and settings of the zone.
terraform {
  required_version = ">= 1.9"

  required_providers {
    cloudflare = {
      source = "cloudflare/cloudflare"
      # the tests use the schema of 5.14
      version = ">= 5.14.0, < 6.0.0"
    }
  }
}
