"""The distribution in front of a Function URL, and its function as CloudFront runs it."""

import json
import re
import subprocess
import unittest

from rendering import AWS, Rendering
from template_test import DOMAIN, FORWARD, LEAST

ROOT = AWS.parents[1]
RENDERING = Rendering(
    DOMAIN, Endpoint="https://abc.lambda-url.example.on.aws/", DomainName="table.example.com", CertificateArn="", ForwardSecretArn=FORWARD)


class Distribution(unittest.TestCase):
    config = RENDERING.properties("Distribution")["DistributionConfig"]

    def test_hands_on_every_verb_and_caches_nothing(self):
        behavior = self.config["DefaultCacheBehavior"]
        self.assertEqual(set(behavior["AllowedMethods"]), {"GET", "HEAD", "OPTIONS", "PUT", "PATCH", "POST", "DELETE"})
        self.assertEqual(behavior["CachePolicyId"], "4135ea2d-6df8-44a3-9df3-4b5a84be39ad", "CachingDisabled")
        self.assertEqual(behavior["OriginRequestPolicyId"], "b689b0a8-53d0-40ab-baf2-68738e2966ac", "AllViewerExceptHostHeader")
        self.assertEqual(behavior["ViewerProtocolPolicy"], "https-only")
        self.assertEqual([a["EventType"] for a in behavior["FunctionAssociations"]], ["viewer-request"])

    def test_errors_are_not_cached_either(self):
        cached = {400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504}  # those that CloudFront keeps by itself
        self.assertEqual({r["ErrorCode"]: r["ErrorCachingMinTTL"] for r in self.config["CustomErrorResponses"]}, dict.fromkeys(cached, 0))

    def test_waits_longer_than_the_function(self):
        origin = self.config["Origins"][0]
        self.assertGreater(origin["CustomOriginConfig"]["OriginReadTimeout"], LEAST.properties("Function")["Timeout"])

    def test_shows_the_secret_without_writing_it_down(self):
        (header,) = self.config["Origins"][0]["OriginCustomHeaders"]
        self.assertEqual(header["HeaderName"].lower(), Viewer.names["SecretHeader"])
        self.assertEqual(header["HeaderValue"], {"Fn::Sub": "{{resolve:secretsmanager:${ForwardSecretArn}}}"})


# A viewer-request event: header names in lower case, one value or more each. The client claims to be somebody else.
EVENT = {
    "version": "1.0",
    "context": {
        "distributionDomainName": "d111111abcdef8.cloudfront.net", "distributionId": "EDFDVBD6EXAMPLE",
        "eventType": "viewer-request", "requestId": "EXAMPLEntjQpEXAMPLE_SG5Z-EXAMPLEPmPfEXAMPLEu3EqEXAMPLE==",
    },
    "viewer": {"ip": "2001:db8::17"},
    "request": {
        "method": "GET",
        "uri": "/people(PartitionKey='50%25',RowKey='a%2Fb')",
        "querystring": {"$select": {"value": "Name%2CAge"}},
        "headers": {
            "host": {"value": "acme.table.example.com"},
            "authorization": {"value": "SharedKey acme:c2lnbmF0dXJl"},
            "x-ms-date": {"value": "Sat, 21 Nov 2026 12:00:00 GMT"},
            "x-forwarded-for": {"value": "192.0.2.1"},
            "x-forwarded-host": {"value": "other.table.example.com", "multiValue": [{"value": "other.table.example.com"}, {"value": "third"}]},
            "x-edgetable-viewer": {"value": "192.0.2.1", "multiValue": [{"value": "192.0.2.1"}, {"value": "192.0.2.2"}]},
            "x-edgetable-forward-secret": {"value": "guessed"},
        },
        "cookies": {},
    },
}


class Viewer(unittest.TestCase):
    """The function is run by node, as CloudFront runs it: no modules, no process, handler called with the event."""

    names = {k: v.lower() for k, v in re.findall(r'(\w+Header) += "(\S+)"', (ROOT / "adapters/transport/lambdaurl/forwarded.go").read_text())}
    code = RENDERING.properties("Forward")["FunctionCode"]

    def handle(self, event):
        run = "const vm = require('vm'), [code, event] = JSON.parse(require('fs').readFileSync(0));" \
            "const c = vm.createContext({event});vm.runInContext(code, c);console.log(JSON.stringify(vm.runInContext('handler(event)', c)))"
        done = subprocess.run(["node", "-e", run], input=json.dumps([self.code, event]), capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_tells_the_host_and_the_address_whatever_the_client_says(self):
        sent = EVENT["request"]["headers"]
        got = self.handle(EVENT)
        self.assertEqual(got["headers"]["x-forwarded-host"], {"value": "acme.table.example.com"})
        self.assertEqual(got["headers"][self.names["viewerHeader"]], {"value": "2001:db8::17"})
        self.assertNotIn(self.names["SecretHeader"], got["headers"])
        changed = {"x-forwarded-host", *self.names.values()}
        self.assertEqual({k: v for k, v in got["headers"].items() if k not in changed}, {k: v for k, v in sent.items() if k not in changed})

    def test_says_the_same_of_a_client_that_claims_nothing(self):
        event = json.loads(json.dumps(EVENT))
        for name in ("x-forwarded-host", *self.names.values()):
            del event["request"]["headers"][name]
        self.assertEqual(self.handle(event), self.handle(EVENT))

    def test_leaves_what_is_signed_alone(self):
        got = self.handle(EVENT)
        for part in ("method", "uri", "querystring", "cookies"):
            self.assertEqual(got[part], EVENT["request"][part])

    def test_sets_nothing_that_is_cloudfronts_own(self):
        """CloudFront answers 502 for a function that sets one of these."""
        own = re.compile(r"x-(accel|amz-cf|amzn|edge|cache|real-ip|forwarded-proto)(-|$)")
        for name in re.findall(r"headers\['([^']+)'\] =", self.code):
            self.assertIsNone(own.match(name), name)


if __name__ == "__main__":
    unittest.main()
