# The region and the credentials are those of the provider that the caller configures.
terraform {
  required_version = ">= 1.9"

  required_providers {
    aws = {
      source = "hashicorp/aws"
      # 6.28.0 is the first that knows invoked_via_function_url
      version = ">= 6.28.0, < 7.0.0"
    }
  }
}
