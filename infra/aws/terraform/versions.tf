# The caller configures the region and the credentials of the provider.
terraform {
  required_version = ">= 1.9"

  required_providers {
    aws = {
      source = "hashicorp/aws"
      # 6.28.0 is the first version with invoked_via_function_url
      version = ">= 6.28.0, < 7.0.0"
    }
  }
}
