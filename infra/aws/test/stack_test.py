"""The stack, deployed to a moto server by the command that users run."""

import ast
import json
import logging
import os
import subprocess
import tempfile
import unittest
import zipfile
from io import BytesIO
from pathlib import Path

import boto3

import emulator
from rendering import AWS, load
from template_test import ROW_ACTIONS, SECRET, TOPIC

REGION = "eu-north-1"
STACK = "tables"
logging.getLogger("werkzeug").setLevel(logging.ERROR)


class Stack(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        server, url = emulator.start()
        cls.addClassCleanup(server.stop)
        home = cls.enterClassContext(tempfile.TemporaryDirectory())
        Path(home, "config").write_text("[default]\ns3 =\n  addressing_style = path\n")
        Path(home, "samconfig.toml").write_text("version = 0.1\n")  # instead of that of whoever runs this
        env = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "SAM_"))} | {
            "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_ENDPOINT_URL": url, "NO_PROXY": "localhost",
            "AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": f"{home}/config", "HOME": home,
        }
        done = subprocess.run(
            [AWS / "deploy", "--config-file", f"{home}/samconfig.toml", "--stack-name", STACK, "--region", REGION, "--resolve-s3",
             "--parameter-overrides", f"AccountsSecretArn={SECRET}", f"AlarmTopicArn={TOPIC}"],
            env=env, capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)
        session = boto3.Session("test", "test", region_name=REGION)
        cls.aws = staticmethod(lambda service: session.client(service, endpoint_url=url))
        cf = cls.aws("cloudformation")
        (cls.stack,) = cf.describe_stacks(StackName=STACK)["Stacks"]
        cls.outputs = {o["OutputKey"]: o["OutputValue"] for o in cls.stack["Outputs"]}
        cls.physical = {r["LogicalResourceId"]: r["PhysicalResourceId"] for r in cf.list_stack_resources(StackName=STACK)["StackResourceSummaries"]}

    def function(self, name):
        return self.aws("lambda").get_function(FunctionName=self.physical[name])

    def test_everything_is_made(self):
        self.assertEqual(self.stack["StackStatus"], "CREATE_COMPLETE")
        template = load(AWS / "template.yaml")
        self.assertEqual(set(self.physical), set(template["Resources"]))
        self.assertEqual(set(self.outputs), set(template["Outputs"]))
        self.assertEqual(self.outputs["TableName"], self.physical["Table"])

    def test_table(self):
        db, name = self.aws("dynamodb"), self.physical["Table"]
        table = db.describe_table(TableName=name)["Table"]
        self.assertEqual([(k["AttributeName"], k["KeyType"]) for k in table["KeySchema"]], [(".p", "HASH"), (".s", "RANGE")])
        self.assertEqual({a["AttributeType"] for a in table["AttributeDefinitions"]}, {"B"})
        self.assertEqual(table["BillingModeSummary"]["BillingMode"], "PAY_PER_REQUEST")
        self.assertIs(table["DeletionProtectionEnabled"], True)
        with self.assertRaises(db.exceptions.ClientError):
            db.delete_table(TableName=name)

    def test_functions(self):
        for name, memory, timeout, concurrency in (("Function", 512, 30, 50), ("Purge", 256, 840, 2)):
            f = self.function(name)["Configuration"]
            self.assertEqual((f["Runtime"], f["Handler"], f["MemorySize"], f["Timeout"]), ("provided.al2023", "bootstrap", memory, timeout))
            reserved = self.aws("lambda").get_function_concurrency(FunctionName=f["FunctionName"])
            self.assertEqual(int(reserved["ReservedConcurrentExecutions"]), concurrency)
        env = self.function("Function")["Configuration"]["Environment"]["Variables"]
        self.assertEqual({k: str(v) for k, v in env.items()}, {  # moto leaves numbers what they are
            "EDGETABLE_DYNAMODB_TABLE": self.physical["Table"], "EDGETABLE_ROLE": "alone", "EDGETABLE_BUCKETS": "8", "EDGETABLE_SCANNED_BYTES": "8388608",
            "EDGETABLE_STREAMING": "false", "EDGETABLE_EXTENSIONS": "false", "EDGETABLE_LEASE": "2s", "EDGETABLE_ACCOUNTS_SECRET": SECRET, "EDGETABLE_METRICS": f"edgetable/{STACK}"})

    def test_code_is_the_bootstrap(self):
        s3 = self.aws("s3")
        (bucket,) = s3.list_buckets()["Buckets"]  # the one that SAM makes
        objects = {o["Key"]: o for o in s3.list_objects_v2(Bucket=bucket["Name"])["Contents"]}
        (code,) = [key for key in objects if not key.endswith(".template")]
        packaged = zipfile.ZipFile(BytesIO(s3.get_object(Bucket=bucket["Name"], Key=code)["Body"].read()))
        self.assertEqual(packaged.namelist(), ["bootstrap"])
        (bootstrap,) = packaged.infolist()
        self.assertTrue(bootstrap.external_attr >> 16 & 0o001, "others than its owner may not execute bootstrap")
        elf = packaged.read("bootstrap")[:20]
        self.assertEqual((elf[:4], elf[18]), (b"\x7fELF", 0xB7), "bootstrap is no program for arm64")
        for name in ("Function", "Purge"):
            self.assertEqual(self.function(name)["Configuration"]["CodeSize"], objects[code]["Size"])

    def test_url_is_public_by_both_permissions(self):
        url = self.aws("lambda").get_function_url_config(FunctionName=self.physical["Function"])
        self.assertEqual(url["AuthType"], "NONE")
        self.assertEqual(url["FunctionUrl"], self.outputs["Endpoint"])
        policy = json.loads(self.aws("lambda").get_policy(FunctionName=self.physical["Function"])["Policy"])
        actions = [s["Action"] for s in policy["Statement"] if "*" in json.dumps(s["Principal"])]
        self.assertCountEqual(actions, ["lambda:InvokeFunctionUrl", "lambda:InvokeFunction"])
        purge = json.loads(self.aws("lambda").get_policy(FunctionName=self.physical["Purge"])["Policy"])
        self.assertEqual([s["Principal"] for s in purge["Statement"]], [{"Service": "events.amazonaws.com"}] * 2)
        with self.assertRaises(self.aws("lambda").exceptions.ResourceNotFoundException):
            self.aws("lambda").get_function_url_config(FunctionName=self.physical["Purge"])

    def test_roles(self):
        iam = self.aws("iam")
        for name in ("RequestRole", "PurgeRole"):
            (policy,) = iam.list_attached_role_policies(RoleName=self.physical[name])["AttachedPolicies"]
            version = iam.get_policy(PolicyArn=policy["PolicyArn"])["Policy"]["DefaultVersionId"]
            (rows,) = iam.get_policy_version(PolicyArn=policy["PolicyArn"], VersionId=version)["PolicyVersion"]["Document"]["Statement"]
            self.assertEqual({a.removeprefix("dynamodb:") for a in rows["Action"]}, ROW_ACTIONS)
            self.assertTrue(rows["Resource"].endswith(":table/" + self.physical["Table"]), rows["Resource"])
        inline = iam.get_role_policy(RoleName=self.physical["RequestRole"], PolicyName="requests")["PolicyDocument"]
        inline = ast.literal_eval(inline) if isinstance(inline, str) else inline  # moto prints it as Python does
        log, accounts = inline["Statement"]
        self.assertEqual((accounts["Action"], accounts["Resource"]), ("secretsmanager:GetSecretValue", SECRET))
        self.assertIn(f":log-group:/edgetable/{STACK}/requests", log["Resource"])

    def test_purge(self):
        events, name = self.aws("events"), self.physical["PurgeRule"]
        self.assertEqual(events.describe_rule(Name=name)["ScheduleExpression"], "rate(15 minutes)")
        (target,) = events.list_targets_by_rule(Rule=name)["Targets"]
        self.assertEqual(target["Arn"], self.function("Purge")["Configuration"]["FunctionArn"])
        self.assertEqual(json.loads(target["Input"]), {"purge": True})
        retries = self.aws("lambda").get_function_event_invoke_config(FunctionName=self.physical["Purge"])
        self.assertEqual(retries["MaximumRetryAttempts"], 0)

    def test_logs_end(self):
        groups = {g["logGroupName"]: g.get("retentionInDays") for g in self.aws("logs").describe_log_groups()["logGroups"]}
        self.assertEqual(groups, {f"/edgetable/{STACK}/requests": 30, f"/edgetable/{STACK}/purge": 30})

    def test_alarms(self):
        made = self.aws("cloudwatch").describe_alarms()["MetricAlarms"]
        self.assertEqual(len(made), 7)
        for alarm in made:
            self.assertEqual(alarm["AlarmActions"], [TOPIC], alarm["AlarmName"])
        watched = {d["Value"] for alarm in made for d in alarm["Dimensions"]}
        self.assertEqual(watched, {self.physical["Function"], self.physical["Purge"]})
        tables = {d["Value"] for alarm in made for q in alarm.get("Metrics", []) if "MetricStat" in q for d in q["MetricStat"]["Metric"]["Dimensions"]}
        self.assertEqual(tables, {self.physical["Table"]})


if __name__ == "__main__":
    unittest.main()
