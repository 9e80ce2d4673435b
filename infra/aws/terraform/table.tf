data "aws_partition" "this" {}
data "aws_region" "this" {}
data "aws_caller_identity" "this" {}

locals {
  # prefix of ARNs in this account and region
  arn = {
    for service in ["dynamodb", "ssm"] : service => join(":", [
      "arn", data.aws_partition.this.partition, service, data.aws_region.this.region, data.aws_caller_identity.this.account_id
    ])
  }
  reads = ["dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query"]
  writes = [
    "dynamodb:BatchWriteItem",
    "dynamodb:ConditionCheckItem",
    "dynamodb:DeleteItem",
    "dynamodb:PutItem",
    "dynamodb:UpdateItem",
  ]
  metrics   = "edgetable/${var.name}"
  table     = coalesce(var.restored_table, aws_dynamodb_table.this.name)
  table_arn = var.restored_table == null ? aws_dynamodb_table.this.arn : "${local.arn.dynamodb}:table/${var.restored_table}"
}

resource "aws_dynamodb_table" "this" {
  name         = var.name
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = ".p"
  range_key    = ".s"

  deletion_protection_enabled = true

  attribute {
    name = ".p"
    type = "B"
  }

  attribute {
    name = ".s"
    type = "B"
  }

  point_in_time_recovery {
    enabled = true
  }

  # No item has this attribute. The purge removes leftover items in an order that TTL would not preserve.
  ttl {
    attribute_name = ".ttl"
    enabled        = true
  }

  dynamic "server_side_encryption" {
    for_each = var.kms_key_arn[*]
    content {
      enabled     = true
      kms_key_arn = server_side_encryption.value
    }
  }

  lifecycle {
    prevent_destroy = true
    # The CLI adds replicas in other Regions. A later apply must not remove them.
    ignore_changes = [replica, stream_enabled, stream_view_type]
  }
}

# Access to single rows. A transaction requires the permissions of its parts. There is no Scan and no change of the
# table itself, and a secondary does not write.
data "aws_iam_policy_document" "table" {
  statement {
    sid       = "Rows"
    actions   = var.role == "secondary" ? local.reads : concat(local.reads, local.writes)
    resources = [local.table_arn]
  }

  dynamic "statement" {
    for_each = var.kms_key_arn[*]
    content {
      sid = "TableKey"
      actions = [
        "kms:Decrypt",
        "kms:DescribeKey",
        "kms:Encrypt",
        "kms:GenerateDataKey",
        "kms:GenerateDataKeyWithoutPlaintext",
        "kms:ReEncryptFrom",
        "kms:ReEncryptTo",
      ]
      resources = [statement.value]
      condition {
        test     = "StringEquals"
        variable = "kms:ViaService"
        values   = ["dynamodb.${data.aws_region.this.region}.${data.aws_partition.this.dns_suffix}"]
      }
    }
  }
}

resource "aws_iam_policy" "table" {
  name_prefix = "${var.name}-table-"
  description = "Reads and writes rows of the edgetable table."
  policy      = data.aws_iam_policy_document.table.json
}
