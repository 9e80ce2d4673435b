"""The Terraform module: its form, its arguments against the provider's, and that it says what template.yaml says.

Terraform's registry is not asked for anything, so there is no `terraform validate` here; see docs/aws.md.
"""

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

import hcl2

import schema
from rendering import AWS
from schema import camel
from template_test import LEAST, READ_ACTIONS, ROW_ACTIONS, TEMPLATE

MODULES = (AWS / "terraform", AWS / "terraform/domain")
META = {"for_each", "count", "depends_on", "lifecycle", "provider"}
LATER = {("aws_lambda_permission", "invoked_via_function_url")}  # since 6.28.0, the bindings are those of 6.25.0


def plain(value):
    """Without quotes around strings and what the parser adds; a dynamic block as the block that it makes."""
    if isinstance(value, dict):
        value = {plain(k): plain(v) for k, v in value.items() if not k.startswith("__")}
        for dynamic in value.pop("dynamic", []):
            ((name, block),) = dynamic.items()
            value.setdefault(name, []).extend(block["content"])
        return value
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value[1:-1] if isinstance(value, str) and value[:1] == value[-1:] == '"' else value


def read(module):
    """section, kind, name, body of every block of a module."""
    for path in sorted(module.glob("*.tf")):
        for section, blocks in plain(hcl2.loads(path.read_text())).items():
            for block in blocks:
                if section in ("resource", "data"):
                    for kind, named in block.items():
                        for name, body in named.items():
                            yield section, kind, name, body
                elif section in ("variable", "output"):
                    for name, body in block.items():
                        yield section, None, name, body


SCHEMAS = schema.read(os.environ["EDGETABLE_AWS_BINDINGS"], {(s, k) for m in MODULES for s, k, _, _ in read(m) if k})
BLOCKS = {(s, k, n): b for s, k, n, b in read(MODULES[0])}


LOCALS = {n: v for path in sorted(MODULES[0].glob("*.tf")) for block in plain(hcl2.loads(path.read_text())).get("locals", []) for n, v in block.items()}


def body(kind, name):
    return BLOCKS["resource", kind, name]


class Form(unittest.TestCase):
    def run_in(self, module, *command):
        env = {k: v for k, v in os.environ.items() if not k.startswith("TF_")} | {"CHECKPOINT_DISABLE": "1"}
        done = subprocess.run(command, cwd=module, capture_output=True, text=True, env=env)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_hclfmt(self):
        for module in MODULES:
            self.run_in(module, "hclfmt", "-check", "-require-no-change", *sorted(p.name for p in module.glob("*.tf")))

    def test_terraform_fmt(self):
        terraform = shutil.which("terraform") or shutil.which("tofu")
        if terraform is None:
            self.skipTest("neither terraform nor tofu is installed; hclfmt has formatted the same files")
        self.run_in(MODULES[0], terraform, "fmt", "-check", "-diff", "-recursive")

    def test_tflint(self):
        for module in MODULES:
            self.run_in(module, "tflint", "--no-color")


class Arguments(unittest.TestCase):
    def check(self, where, kind, arguments, block, body):
        known = arguments.arguments[block]
        for name, value in body.items():
            if (kind, name) in LATER or block == "" and name in META:
                continue
            self.assertIn(name, known, f"{where}: no such argument")
            if known[name] and isinstance(value, list):
                for inner in value:
                    self.check(f"{where}.{name}", kind, arguments, known[name], inner)
        missing = arguments.needs(block) - {camel(name) for name in body}
        self.assertEqual(missing, set(), f"{where}: arguments that are required")

    def test_are_those_of_the_provider(self):
        for module in MODULES:
            for section, kind, name, body in read(module):
                if kind:
                    self.check(f"{kind}.{name}", kind, SCHEMAS[section, kind], "", body)

    def test_references_lead_somewhere(self):
        for module in MODULES:
            text = "\n".join(p.read_text() for p in module.glob("*.tf"))
            blocks = {(s, k, n) for s, k, n, _ in read(module)}
            for data, kind, name, attribute in re.findall(r"\b(data\.)?(aws_\w+)\.(\w+)\.(\w+)", text):
                section = "data" if data else "resource"
                self.assertIn((section, kind, name), blocks)
                self.assertIn(camel(attribute), SCHEMAS[section, kind].readable, f"{kind}.{name}.{attribute}")
            used = set(re.findall(r"\bvar\.(\w+)", text))
            self.assertEqual(used, {name for section, _, name in blocks if section == "variable"})


class SameAsTemplate(unittest.TestCase):
    def test_variables(self):
        snake = lambda name: re.sub(r"(?<=.)([A-Z])", r"_\1", name).lower()
        variables = {n: b for (s, _, n), b in BLOCKS.items() if s == "variable"}
        self.assertEqual(variables.keys() - {"name", "code"}, {snake(p) for p in TEMPLATE["Parameters"]})
        for name, parameter in TEMPLATE["Parameters"].items():
            ours, theirs = variables[snake(name)].get("default"), parameter["Default"]
            ours = {None: "", "null": "", True: "true", False: "false"}.get(ours, ours)
            self.assertEqual(str(ours), str(theirs), name)

    def test_table(self):
        table = body("aws_dynamodb_table", "this")
        self.assertEqual((table["hash_key"], table["range_key"]), (".p", ".s"))
        self.assertEqual(table["attribute"], [{"name": ".p", "type": "B"}, {"name": ".s", "type": "B"}])
        self.assertEqual(table["billing_mode"], "PAY_PER_REQUEST")
        self.assertIs(table["deletion_protection_enabled"], True)
        self.assertEqual(table["point_in_time_recovery"], [{"enabled": True}])
        self.assertEqual(table["ttl"], [{"attribute_name": ".ttl", "enabled": True}])
        self.assertEqual(table["lifecycle"], [{"prevent_destroy": True, "ignore_changes": ["replica", "stream_enabled", "stream_view_type"]}])

    def test_rights(self):
        statements = {n: {s["sid"]: s for s in b["statement"]} for (s, k, n), b in BLOCKS.items() if k == "aws_iam_policy_document" and n != "lambda"}
        self.assertEqual(statements["table"]["Rows"]["actions"], '${var.role == "secondary" ? local.reads : concat(local.reads, local.writes)}')
        reads, writes = ({a.removeprefix("dynamodb:") for a in LOCALS[n]} for n in ("reads", "writes"))
        self.assertEqual((reads, reads | writes), (READ_ACTIONS, ROW_ACTIONS))
        self.assertEqual(statements["table"]["Rows"]["resources"], ["${local.table_arn}"])
        self.assertEqual(set(statements["purge"]), {"Log"})
        self.assertEqual(set(statements["requests"]), {"Log", "Accounts", "Forward", "AccountsKey"})
        for policy in statements.values():
            for sid, s in policy.items():
                self.assertNotIn("*", "".join(s["actions"]), sid)
                if sid != "Log":  # whose star is the streams of one group
                    self.assertNotIn("*", "".join(s["resources"]), sid)

    def test_public_url_has_both_permissions(self):
        public = [b for (s, k, n), b in BLOCKS.items() if k == "aws_lambda_permission" and b["principal"] == "*"]
        self.assertCountEqual([(b["action"], b.get("function_url_auth_type"), b.get("invoked_via_function_url")) for b in public], [
            ("lambda:InvokeFunctionUrl", "NONE", None), ("lambda:InvokeFunction", None, True)])
        url = body("aws_lambda_function_url", "this")
        self.assertEqual(url["authorization_type"], "NONE")
        self.assertNotIn("cors", url)

    def test_functions(self):
        for ours, theirs in (("requests", "Function"), ("purge", "Purge")):
            f, t = body("aws_lambda_function", ours), LEAST.properties(theirs)
            self.assertEqual((f["architectures"], f["runtime"], f["handler"]), (t["Architectures"], t["Runtime"], t["Handler"]))
            self.assertEqual(f["timeout"], t["Timeout"])
            self.assertEqual(f["logging_config"], [{"log_group": f"${{aws_cloudwatch_log_group.{ours}.name}}", "log_format": "Text"}])
        names = set(re.findall(r"EDGETABLE_\w+", (MODULES[0] / "function.tf").read_text()))
        self.assertEqual(names, set(re.findall(r"EDGETABLE_\w+", (AWS / "template.yaml").read_text())))
        (environment,) = body("aws_lambda_function", "purge")["environment"]
        self.assertEqual(environment["variables"].keys(), LEAST.properties("Purge")["Environment"]["Variables"].keys())
        rule = body("aws_cloudwatch_event_target", "purge")
        self.assertEqual(rule["input"], "${jsonencode({purge = true})}")
        self.assertEqual(body("aws_cloudwatch_event_target", "heartbeat")["input"], "${jsonencode({heartbeat = true})}")
        rule = body("aws_cloudwatch_event_rule", "heartbeat")
        self.assertEqual((rule["schedule_expression"], rule["state"]), (LEAST.properties("HeartbeatRule")["ScheduleExpression"], '${var.role == "alone" ? "DISABLED" : "ENABLED"}'))

    def test_alarms(self):
        watched = set(re.findall(r'metric(?:_name)? *= "(\w+)"', (MODULES[0] / "alarms.tf").read_text()))
        self.assertEqual(watched, {a["MetricName"] for a in LEAST.of_type("AWS::CloudWatch::Alarm").values() if "MetricName" in a})
        for (s, k, n), b in BLOCKS.items():
            if k == "aws_cloudwatch_metric_alarm":
                self.assertEqual(b["treat_missing_data"], "notBreaching", n)
                self.assertEqual(b["alarm_actions"], "${var.alarm_topic_arn[*]}", n)
        self.assertEqual(body("aws_cloudwatch_metric_alarm", "duration")["extended_statistic"], "p99")
        self.assertIn('{ reads = "ReadThrottleEvents", writes = "WriteThrottleEvents" }', (MODULES[0] / "alarms.tf").read_text())

    def test_domain(self):
        blocks = {(k, n): b for s, k, n, b in read(MODULES[1]) if s == "resource"}
        distribution = blocks["aws_cloudfront_distribution", "this"]
        template = (AWS / "domain.yaml").read_text()
        behavior = distribution["default_cache_behavior"][0]
        for same in (behavior["cache_policy_id"], behavior["origin_request_policy_id"], distribution["origin"][0]["custom_header"][0]["name"]):
            self.assertIn(same, template)
        handler = lambda text: "".join(text[text.index("function handler"):text.rindex("return request;")].split())
        self.assertEqual(handler((MODULES[1] / "main.tf").read_text()), handler(template))
        self.assertEqual(set(behavior["allowed_methods"]), {"GET", "HEAD", "OPTIONS", "PUT", "PATCH", "POST", "DELETE"})
        codes = re.search(r"for_each = \[([\d, ]+)\]", (MODULES[1] / "main.tf").read_text())[1]
        self.assertEqual(set(codes.split(", ")), set(re.findall(r"ErrorCode: (\d+)", template)))


if __name__ == "__main__":
    unittest.main()
