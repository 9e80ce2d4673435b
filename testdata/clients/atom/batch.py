"""Entity group transactions as multipart/mixed text, and a reader of the answer that follows the framing byte by byte."""

import email.parser
import re

from wire import Response


def operation(method, url, body=None, content_id=None, content_type="application/atom+xml;type=entry", **headers):
    """An application/http part; headers have _ for -."""
    fields = {"Content-ID": content_id, "Content-Type": body and content_type, "Content-Length": body and len(body.encode())}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"{method} {url} HTTP/1.1"] + [f"{name}: {value}" for name, value in fields.items() if value is not None]
    return "\n".join(lines + ["", body or ""])


def batch(operations, boundary, changeset, newline="\r\n"):
    """A batch with one changeset, with every line end of its frame and its heads the same."""
    lines = [f"--{boundary}", f"Content-Type: multipart/mixed; boundary={changeset}", ""]
    for each in operations:
        lines += [f"--{changeset}", "Content-Type: application/http", "Content-Transfer-Encoding: binary", "", each]
    lines += [f"--{changeset}--", f"--{boundary}--", ""]
    return "\n".join(lines).replace("\n", newline)


def single(each, boundary, newline="\r\n"):
    """A batch with one query, which stands in it without a changeset."""
    lines = [f"--{boundary}", "Content-Type: application/http", "Content-Transfer-Encoding: binary", "", each]
    return "\n".join(lines + [f"--{boundary}--", ""]).replace("\n", newline)


def answers(response, changeset=True):
    """The responses in a batch's answer. The frame has CRLF line ends and no blank line that the service does not send."""
    assert response.status == 202 and response.media == "multipart/mixed"
    boundary = response.parameters["boundary"]
    assert re.fullmatch(r"batchresponse_[0-9a-f-]{36}", boundary)
    head, body = split_frame(response.body, boundary)
    if not changeset:
        assert body.endswith(b"\r\n")
        return [part(head, body[:-2])]
    inner = re.fullmatch(rb"Content-Type: multipart/mixed; boundary=(changesetresponse_[0-9a-f-]{36})", head)[1].decode()
    opening, closing = f"--{inner}\r\n".encode(), f"--{inner}--\r\n".encode()
    assert body.startswith(opening) and body.endswith(closing)
    pieces = body[len(opening):-len(closing)].split(opening)
    assert all(piece.endswith(b"\r\n") for piece in pieces)
    return [part(*piece[:-2].split(b"\r\n\r\n", 1)) for piece in pieces]


def split_frame(data, boundary):
    """The head and the content of the only part between the delimiters."""
    opening, closing = f"--{boundary}\r\n".encode(), f"--{boundary}--\r\n".encode()
    assert data.startswith(opening) and data.endswith(closing)
    return data[len(opening):-len(closing)].split(b"\r\n\r\n", 1)


def part(head, content):
    assert head == b"Content-Type: application/http\r\nContent-Transfer-Encoding: binary"
    top, body = content.split(b"\r\n\r\n", 1)
    status, _, fields = top.partition(b"\r\n")
    assert not re.search(rb"(?<!\r)\n", top), "line ends of the head"
    version, code, reason = status.decode().split(" ", 2)
    assert version == "HTTP/1.1"
    headers = email.parser.BytesParser().parsebytes(fields + b"\r\n\r\n", headersonly=True)
    assert "Content-Length" not in headers, "the service sends none inside a batch"
    answer = Response(int(code), reason, headers, body)
    assert answer.data_service_version(), "each part says its version"
    return answer
