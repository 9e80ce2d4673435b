data "aws_partition" "this" {}
data "aws_region" "this" {}
data "aws_caller_identity" "this" {}

locals {
  # what is put before a resource's own name in an ARN of this account and region
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

  # No item has this attribute: what is left over is removed by the purge, in an order that TTL does not keep.
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
    # A second Region is added by the CLI; a later apply must not remove it.
    ignore_changes = [replica, stream_enabled, stream_view_type]
  }
}

# Rows may be read, written and deleted one by one. A transaction is allowed by the actions it is made of. There is no
# Scan, and nothing that changes the table itself. A secondary writes nothing.
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
