"""HTTP as the clients of 2009 to 2015 spoke it: http.client, a signature, and headers exactly as given.

Every answer is checked for what all answers have in common, whatever the test is about (see Response).
"""

import base64
import hashlib
import hmac
import http.client
import re
import time
import xml.etree.ElementTree as ElementTree
from email.utils import formatdate, parsedate_to_datetime
from urllib.parse import quote, urlsplit

ATOM = "application/atom+xml,application/xml"


class Response:
    def __init__(self, status, reason, headers, body, to_head=False):
        self.status, self.reason, self.headers, self.body = status, reason, headers, body
        if not to_head:
            lengths = headers.get_all("Content-Length", [])
            assert len(lengths) <= 1 and (not lengths or int(lengths[0]) == len(body))
            assert bool(body) == bool(headers.get("Content-Type")), f"{status}: a body and its type belong together"

    @property
    def media(self):
        """The media type, without its parameters."""
        return (self.headers.get("Content-Type") or "").partition(";")[0].strip()

    @property
    def parameters(self):
        pairs = (self.headers.get("Content-Type") or "").split(";")[1:]
        return dict(pair.strip().split("=", 1) for pair in pairs)

    def xml(self):
        """The document: well-formed, declared as XML, and UTF-8 if anything is said about it."""
        assert self.media in ("application/atom+xml", "application/xml"), self.headers.get("Content-Type")
        assert self.parameters.get("charset", "utf-8").lower() == "utf-8"
        declaration = re.match(rb"(?:\xef\xbb\xbf)?<\?xml [^>]*\?>", self.body)
        assert declaration and b'encoding="utf-8"' in declaration[0], self.body[:80]
        return ElementTree.fromstring(self.body)

    def data_service_version(self):
        value = self.headers.get("DataServiceVersion")
        return value and float(re.fullmatch(r"([1-3]\.0);?", value)[1])


class Account:
    def __init__(self, connection_string):
        fields = dict(pair.split("=", 1) for pair in connection_string.strip(";").split(";"))
        self.name = fields["AccountName"]
        self.key = base64.b64decode(fields["AccountKey"])
        endpoint = urlsplit(fields["TableEndpoint"])
        self.host = endpoint.netloc
        self.secure = endpoint.scheme == "https"
        self.prefix = endpoint.path.rstrip("/")  # /account in path style
        self.base = f"{endpoint.scheme}://{endpoint.netloc}{self.prefix}/"

    def mac(self, text):
        return base64.b64encode(hmac.new(self.key, text.encode(), hashlib.sha256).digest()).decode()


class Client:
    """One way to speak to an account: a version, a scheme, the header that has the date, and what goes with each request.

    A header whose value is None is not sent.
    """

    def __init__(self, account, version="2009-09-19", scheme="SharedKeyLite", date="x-ms-date", **headers):
        self.account, self.version, self.scheme, self.date = account, version, scheme, date
        self.headers = {"User-Agent": "Microsoft ADO.NET Data Services", "Accept": ATOM, "Accept-Charset": "UTF-8"}
        self.headers |= data_service_versions(version)
        self.headers |= {name.replace("_", "-"): value for name, value in headers.items()}

    def variant(self, **changes):
        """The same client with another version, scheme or date header."""
        settings = {"version": self.version, "scheme": self.scheme, "date": self.date} | changes
        return Client(self.account, **settings)

    def request(self, method, path, body=None, *, secondary=False, **headers):
        """Sends a request for a path below the account's, which may have a query; headers have _ for -."""
        target = self.account.prefix + ("-secondary" if secondary else "") + path
        fields = dict(self.headers)
        for name, value in headers.items():
            fields[name.replace("_", "-")] = value
        if body is not None:
            body = body.encode() if isinstance(body, str) else body
            fields.setdefault("Content-Type", "application/atom+xml")
        fields["x-ms-version"] = self.version
        if self.scheme:
            self._sign(method, target, fields)
        response = self._send(method, target, body, fields)
        self._check(response, fields)
        return response

    def _sign(self, method, target, fields):
        date = fields.setdefault(self.date, formatdate(usegmt=True))
        path, _, query = target.partition("?")
        resource = f"/{self.account.name}{path}"
        if comp := re.search(r"(?:^|&)comp=([^&]*)", query):
            resource += f"?comp={comp[1]}"
        text = f"{date}\n{resource}"
        if self.scheme == "SharedKey":
            text = f"{method}\n{fields.get('Content-MD5', '')}\n{fields.get('Content-Type') or ''}\n{text}"
        fields.setdefault("Authorization", f"{self.scheme} {self.account.name}:{self.account.mac(text)}")

    def _send(self, method, target, body, fields):
        kind = http.client.HTTPSConnection if self.account.secure else http.client.HTTPConnection
        connection = kind(self.account.host, timeout=60)
        try:
            connection.putrequest(method, target, skip_accept_encoding=True)
            for name, value in fields.items():
                if value is not None:
                    connection.putheader(name, value)
            if body is not None or method in ("POST", "PUT", "MERGE", "PATCH"):
                connection.putheader("Content-Length", str(len(body or b"")))
            connection.endheaders(body)
            answer = connection.getresponse()
            return Response(answer.status, answer.reason, answer.headers, answer.read(), method == "HEAD")
        finally:
            connection.close()

    def _check(self, response, fields):
        assert response.status < 500 or response.status == 501, response.body
        assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", response.headers["x-ms-request-id"])
        assert parsedate_to_datetime(response.headers["Date"])
        version = response.headers.get("x-ms-version")
        assert version is None or self.version is None or version == self.version, (version, self.version)
        # A client of WCF Data Services refuses an answer of a version beyond what it said it can read.
        limit = fields.get("MaxDataServiceVersion") or fields.get("DataServiceVersion")
        if limit and response.data_service_version():
            assert response.data_service_version() <= float(limit.partition(";")[0]), response.headers["DataServiceVersion"]


def data_service_versions(version):
    """What the clients of that time sent."""
    if version is None:
        return {}
    if version < "2011-08-18":
        return {"DataServiceVersion": "1.0;NetFx", "MaxDataServiceVersion": "1.0;NetFx"}
    if version < "2013-08-15":
        return {"DataServiceVersion": "2.0;NetFx", "MaxDataServiceVersion": "2.0;NetFx"}
    return {"DataServiceVersion": "3.0;", "MaxDataServiceVersion": "3.0;NetFx"}


def key_path(table, partition, row):
    """The path of an entity: quotes doubled, everything but the punctuation of the form escaped."""
    literal = lambda key: quote(key.replace("'", "''"), safe="")
    return f"/{table}(PartitionKey='{literal(partition)}',RowKey='{literal(row)}')"


def stale_etag():
    """An ETag of the right form that no entity has."""
    return "W/\"datetime'2012-06-15T22%3A51%3A44.9662825Z'\""


def utc(seconds_from_now):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds_from_now))
