"""What template.yaml must say, whatever the parameters."""

import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

from rendering import AWS, Rendering, assertions, load

TEMPLATE = load(AWS / "template.yaml")
DOMAIN = load(AWS / "domain.yaml")
ACCOUNT = "123456789012"
SECRET = f"arn:aws:secretsmanager:eu-north-1:{ACCOUNT}:secret:accounts-AbCdEf"
FORWARD = f"arn:aws:secretsmanager:eu-north-1:{ACCOUNT}:secret:forward-AbCdEf"
KEY = f"arn:aws:kms:eu-north-1:{ACCOUNT}:key/00000000-0000-0000-0000-000000000000"
TOPIC = f"arn:aws:sns:eu-north-1:{ACCOUNT}:alarms"

LEAST = Rendering(TEMPLATE, AccountsSecretArn=SECRET)
MOST = Rendering(
    TEMPLATE, AccountsParameter="/edgetable/accounts", ForwardSecretArn=FORWARD, KmsKeyArn=KEY, AlarmTopicArn=TOPIC,
    RestoredTable="edgetable-restored", Streaming="true", Concurrency=0, OidcIssuer="https://issuer.example.com", OidcAudiences="tables",
)

SECOND = Rendering(TEMPLATE, AccountsSecretArn=SECRET, RestoredTable="edgetable-first", Role="secondary")

READ_ACTIONS = {"BatchGetItem", "GetItem", "Query"}
ROW_ACTIONS = READ_ACTIONS | {
    "BatchWriteItem", "ConditionCheckItem", "DeleteItem", "PutItem", "UpdateItem",
}


class Lint(unittest.TestCase):
    def test_cfn_lint(self):
        lint = Path(sys.executable).parent / "cfn-lint"
        for name in ("template.yaml", "domain.yaml"):
            done = subprocess.run([lint, AWS / name], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, f"{name}:\n{done.stdout}{done.stderr}")

    def test_names_no_account_and_no_region(self):
        for path in [AWS / "template.yaml", AWS / "domain.yaml", *AWS.glob("terraform/**/*.tf")]:
            text = path.read_text()
            self.assertEqual(re.findall(r"\b\d{12}\b|\b[a-z]{2}(?:-[a-z]+){1,2}-\d\b", text), [], path.name)


class Table(unittest.TestCase):
    def test_keys_are_binary(self):
        table = LEAST.properties("Table")
        self.assertEqual(table["KeySchema"], [
            {"AttributeName": ".p", "KeyType": "HASH"}, {"AttributeName": ".s", "KeyType": "RANGE"}])
        self.assertEqual({a["AttributeName"]: a["AttributeType"] for a in table["AttributeDefinitions"]}, {".p": "B", ".s": "B"})
        self.assertEqual(table["BillingMode"], "PAY_PER_REQUEST")
        self.assertEqual(table["TimeToLiveSpecification"], {"AttributeName": ".ttl", "Enabled": True})

    def test_expires_nothing(self):
        """The attribute of TTL is on no item: DynamoDB would take what else stands there for a time."""
        adapter = AWS.parents[1] / "adapters/store/dynamodb"
        layout = (adapter / "layout.go").read_text() + (adapter / "internal/call/table.go").read_text()
        own = re.findall(r'= "(\.\w+)"', layout)
        self.assertIn(".p", own)
        ttl = LEAST.properties("Table")["TimeToLiveSpecification"]["AttributeName"]
        self.assertNotIn(ttl, own)

    def test_survives_mistakes(self):
        """Deletion is refused, the stack keeps the table when it goes, and any second can be restored."""
        for rendering in (LEAST, MOST):
            resource = rendering.resources["Table"]
            self.assertEqual((resource["DeletionPolicy"], resource["UpdateReplacePolicy"]), ("Retain", "Retain"))
            self.assertIs(resource["Properties"]["DeletionProtectionEnabled"], True)
            self.assertIs(resource["Properties"]["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"], True)

    def test_is_encrypted_with_the_key_that_is_given(self):
        self.assertNotIn("SSESpecification", LEAST.properties("Table"))
        self.assertEqual(MOST.properties("Table")["SSESpecification"], {
            "SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": {"Ref": "KmsKeyArn"}})


class Functions(unittest.TestCase):
    def test_run_the_same_code_on_arm(self):
        functions = LEAST.of_type("AWS::Lambda::Function")
        self.assertEqual(set(functions), {"Function", "Purge"})
        for f in functions.values():
            self.assertEqual((f["Architectures"], f["Runtime"], f["Handler"]), (["arm64"], "provided.al2023", "bootstrap"))
            self.assertEqual(f["Code"], "../../bin/lambda")

    def test_concurrency_is_bounded_unless_switched_off(self):
        self.assertEqual(LEAST.properties("Function")["ReservedConcurrentExecutions"], {"Ref": "Concurrency"})
        self.assertEqual(LEAST.properties("Purge")["ReservedConcurrentExecutions"], 2)
        for f in MOST.of_type("AWS::Lambda::Function").values():
            self.assertNotIn("ReservedConcurrentExecutions", f)

    def test_settings(self):
        env = LEAST.properties("Function")["Environment"]["Variables"]
        self.assertEqual(env, {
            "EDGETABLE_DYNAMODB_TABLE": {"Ref": "Table"}, "EDGETABLE_ROLE": {"Ref": "Role"}, "EDGETABLE_BUCKETS": {"Ref": "Buckets"},
            "EDGETABLE_SCANNED_BYTES": {"Ref": "ScannedBytes"}, "EDGETABLE_STREAMING": {"Ref": "Streaming"}, "EDGETABLE_EXTENSIONS": {"Ref": "Extensions"}, "EDGETABLE_LEASE": {"Ref": "Lease"},
            "EDGETABLE_ACCOUNTS_SECRET": {"Ref": "AccountsSecretArn"}, "EDGETABLE_METRICS": {"Fn::Sub": "edgetable/${AWS::StackName}"}})
        env = MOST.properties("Function")["Environment"]["Variables"]
        self.assertEqual(env["EDGETABLE_DYNAMODB_TABLE"], {"Ref": "RestoredTable"})
        self.assertEqual(env["EDGETABLE_ACCOUNTS_PARAMETER"], {"Ref": "AccountsParameter"})
        self.assertNotIn("EDGETABLE_ACCOUNTS_SECRET", env)
        self.assertEqual((env["EDGETABLE_OIDC_ISSUER"], env["EDGETABLE_OIDC_AUDIENCES"]), ({"Ref": "OidcIssuer"}, {"Ref": "OidcAudiences"}))

    def test_functions_agree_on_the_table(self):
        """A function with a longer lease than the others could follow old options of a table, or write to a deleted one."""
        shared = ("EDGETABLE_DYNAMODB_TABLE", "EDGETABLE_ROLE", "EDGETABLE_LEASE")
        for rendering in (LEAST, MOST):
            serves, purges = ({k: rendering.properties(f)["Environment"]["Variables"].get(k) for k in shared} for f in ("Function", "Purge"))
            self.assertEqual(purges, serves)

    def test_leases_are_those_that_the_function_accepts(self):
        """With any other lease, the stack would be deployed, and the function would refuse every request."""
        pattern = TEMPLATE["Parameters"]["Lease"]["AllowedPattern"]
        for lease, accepted in (("0s", True), ("500ms", True), ("1.5s", True), ("10s", True), ("15s", False), ("99999ms", False), ("1.2.3s", False), ("2", False)):
            self.assertEqual(bool(re.search(pattern, lease)), accepted, lease)

    def test_an_issuer_has_audiences(self):
        for one in ({"OidcIssuer": "https://issuer.example.com"}, {"OidcAudiences": "tables"}):
            self.assertEqual(len(assertions(TEMPLATE, AccountsSecretArn=SECRET, **one)), 1)

    def test_settings_are_those_that_the_function_reads(self):
        read = set(re.findall(r"^//\s+(?:or \w+ )?(EDGETABLE_\w+) ", (AWS.parents[1] / "functions/lambda/main.go").read_text(), re.M))
        for rendering in (LEAST, MOST):
            for f in rendering.of_type("AWS::Lambda::Function").values():
                self.assertLessEqual(f["Environment"]["Variables"].keys(), read)

    def test_accounts_come_from_one_place(self):
        self.assertEqual(assertions(TEMPLATE, AccountsSecretArn=SECRET), [])
        self.assertEqual(assertions(TEMPLATE, AccountsParameter="/a"), [])
        self.assertEqual(len(assertions(TEMPLATE)), 1)
        self.assertEqual(len(assertions(TEMPLATE, AccountsParameter="/a", AccountsSecretArn=SECRET)), 1)

    def test_logs_end(self):
        logs = LEAST.of_type("AWS::Logs::LogGroup")
        self.assertEqual({json.dumps(l["RetentionInDays"]) for l in logs.values()}, {'{"Ref": "LogRetention"}'})
        used = {f["LoggingConfig"]["LogGroup"]["Ref"] for f in LEAST.of_type("AWS::Lambda::Function").values()}
        self.assertEqual(used, set(logs))


class PublicUrl(unittest.TestCase):
    def test_has_both_permissions(self):
        """One alone answers 403, and no linter says so."""
        public = [p for p in LEAST.of_type("AWS::Lambda::Permission").values() if p["Principal"] == "*"]
        self.assertCountEqual(public, [
            {"Action": "lambda:InvokeFunctionUrl", "FunctionName": {"Ref": "Function"}, "Principal": "*", "FunctionUrlAuthType": "NONE"},
            # without InvokedViaFunctionUrl the whole world may invoke the function past its URL
            {"Action": "lambda:InvokeFunction", "FunctionName": {"Ref": "Function"}, "Principal": "*", "InvokedViaFunctionUrl": True},
        ])

    def test_leaves_signatures_and_cors_to_us(self):
        for rendering, mode in ((LEAST, "BUFFERED"), (MOST, "RESPONSE_STREAM")):
            self.assertEqual(rendering.properties("Url"), {
                "AuthType": "NONE", "InvokeMode": mode, "TargetFunctionArn": {"Fn::GetAtt": ["Function", "Arn"]}})


class Rights(unittest.TestCase):
    def test_no_wildcards(self):
        """The only star is the one that GetAtt of a log group's Arn has at its end: its streams."""
        for rendering in (LEAST, MOST):
            for name in ("TableAccess", "RequestRole", "PurgeRole"):
                for s in rendering.statements(name):
                    self.assertNotIn("*", json.dumps([s["Action"], s["Resource"]]), s["Sid"])
                    self.assertFalse(s.keys() & {"NotAction", "NotResource"}, s["Sid"])

    def test_rows_and_no_more(self):
        rows = LEAST.statements("TableAccess")
        self.assertEqual(len(rows), 1)
        self.assertEqual({a.removeprefix("dynamodb:") for a in rows[0]["Action"]}, ROW_ACTIONS)
        self.assertEqual(rows[0]["Resource"], {"Fn::GetAtt": ["Table", "Arn"]})

    def test_a_secondary_writes_nothing(self):
        (rows,) = SECOND.statements("TableAccess")
        self.assertEqual({a.removeprefix("dynamodb:") for a in rows["Action"]}, READ_ACTIONS)

    def test_cover_what_the_adapter_calls(self):
        """Read from its source: every call is allowed, no action is allowed that no call needs, and none is a Scan."""
        means = {"TransactWriteItems": {"PutItem", "UpdateItem", "DeleteItem"}, "TransactGetItems": {"GetItem"}}
        setup = {"CreateTable", "DescribeTable"}  # a person's calls, with a person's rights
        sources = [p for p in (AWS.parents[1] / "adapters/store/dynamodb").rglob("*.go") if not p.name.endswith("_test.go")]
        text = "\n".join(p.read_text() for p in sources)
        calls = set(re.findall(r"\bdynamodb\.(\w+)Input\b", text)) - setup
        self.assertIn("GetItem", calls, "the adapter's calls are not where this test looks for them")
        needed = set().union(*(means.get(c, {c}) for c in calls))
        if "types.ConditionCheck{" in text:
            needed.add("ConditionCheckItem")
        self.assertEqual(needed, ROW_ACTIONS)

    def test_one_secret(self):
        def reads(rendering, role):
            return {s["Sid"]: (s["Action"], json.dumps(s["Resource"])) for s in rendering.statements(role) if s["Sid"] in ("Accounts", "Forward")}
        get = "secretsmanager:GetSecretValue"
        self.assertEqual(reads(LEAST, "RequestRole"), {"Accounts": (get, '{"Ref": "AccountsSecretArn"}')})
        most = reads(MOST, "RequestRole")
        self.assertEqual(most["Accounts"][0], "ssm:GetParameter")
        self.assertTrue(most["Accounts"][1].endswith(':parameter${AccountsParameter}"}'), most)
        self.assertEqual(most["Forward"], (get, '{"Ref": "ForwardSecretArn"}'))
        self.assertEqual(reads(MOST, "PurgeRole"), {}, "a purge has no use for the accounts")

    def test_the_key_is_used_through_services_alone(self):
        found = [s for name in ("TableAccess", "RequestRole", "PurgeRole") for s in MOST.statements(name) if "kms:" in json.dumps(s["Action"])]
        self.assertEqual(len(found), 2)
        for s in found:
            self.assertEqual(s["Resource"], {"Ref": "KmsKeyArn"})
            self.assertIn("kms:ViaService", s["Condition"]["StringEquals"])


class Purge(unittest.TestCase):
    def test_is_started_by_the_rule_alone(self):
        rule = LEAST.properties("PurgeRule")
        self.assertEqual([json.loads(t["Input"]) for t in rule["Targets"]], [{"purge": True}])
        permission = LEAST.properties("PurgePermission")
        self.assertEqual(permission["Principal"], "events.amazonaws.com")
        self.assertEqual(permission["SourceArn"], {"Fn::GetAtt": ["PurgeRule", "Arn"]})
        self.assertEqual(permission["FunctionName"], {"Ref": "Purge"})
        self.assertEqual({u["TargetFunctionArn"]["Fn::GetAtt"][0] for u in LEAST.of_type("AWS::Lambda::Url").values()}, {"Function"})

    def test_a_heartbeat_is_started_by_its_rule_unless_the_region_is_alone(self):
        rule = LEAST.properties("HeartbeatRule")
        self.assertEqual([(t["Arn"], json.loads(t["Input"])) for t in rule["Targets"]], [({"Fn::GetAtt": ["Purge", "Arn"]}, {"heartbeat": True})])
        self.assertEqual(LEAST.properties("HeartbeatPermission")["SourceArn"], {"Fn::GetAtt": ["HeartbeatRule", "Arn"]})
        self.assertEqual(rule["State"], "DISABLED")
        for role in ("primary", "secondary"):
            self.assertEqual(Rendering(TEMPLATE, AccountsSecretArn=SECRET, Role=role).properties("HeartbeatRule")["State"], "ENABLED")
        self.assertEqual(LEAST.properties("Purge")["Environment"]["Variables"]["EDGETABLE_ROLE"], {"Ref": "Role"})

    def test_runs_do_not_overlap(self):
        self.assertEqual(TEMPLATE["Parameters"]["PurgeSchedule"]["Default"], "rate(15 minutes)")
        self.assertLess(LEAST.properties("Purge")["Timeout"], 15 * 60)


class Alarms(unittest.TestCase):
    def test_watch(self):
        alarms = LEAST.of_type("AWS::CloudWatch::Alarm")
        watched = {(a.get("MetricName"), a["Dimensions"][0]["Value"]["Ref"]) for a in alarms.values() if "Dimensions" in a}
        self.assertEqual(watched, {
            ("Errors", "Function"), ("Throttles", "Function"), ("Duration", "Function"), ("Errors", "Purge")})
        counted = {a["MetricName"] for a in alarms.values() if a.get("Namespace") == {"Fn::Sub": "edgetable/${AWS::StackName}"}}
        self.assertEqual(counted, {"Busy", "Faults"})
        env = LEAST.properties("Function")["Environment"]["Variables"]
        self.assertEqual(env["EDGETABLE_METRICS"], {"Fn::Sub": "edgetable/${AWS::StackName}"})
        source = (AWS.parents[1] / "functions/lambda/metrics.go").read_text()
        self.assertLessEqual(counted, set(re.findall(r'\{"(\w+)", "Count"\}', source)), "the function counts no such thing")
        self.assertIn("[][]string{{}}", source, "the function counts by something that the alarms do not name")
        self.assertEqual(alarms["DurationAlarm"]["ExtendedStatistic"], "p99")
        table = {m["MetricStat"]["Metric"]["MetricName"]: m["MetricStat"]["Metric"]["Dimensions"] for m in alarms["TableAlarm"]["Metrics"] if "MetricStat" in m}
        self.assertEqual(table, dict.fromkeys(("ReadThrottleEvents", "WriteThrottleEvents"), [{"Name": "TableName", "Value": {"Ref": "Table"}}]))

    def test_silence_is_no_alarm_and_a_topic_is_told(self):
        for name, alarm in MOST.of_type("AWS::CloudWatch::Alarm").items():
            self.assertEqual(alarm["TreatMissingData"], "notBreaching", name)
            self.assertEqual(alarm["AlarmActions"], [{"Ref": "AlarmTopicArn"}], name)


if __name__ == "__main__":
    unittest.main()
