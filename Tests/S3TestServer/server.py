# SPDX-License-Identifier: Apache-2.0
"""An S3-compatible server for tests: moto, which verifies signatures and policies.

Prints a line of JSON: its address, and the keys of users who may do everything and who may only read. Then reads
commands, one line of JSON each, and answers each by one. Ends when its standard input ends, which it also does
when who started it was killed.
"""
import base64
import json
import logging
import sys
import threading

import boto3
from botocore.config import Config
from moto import settings
from moto.core.responses import ActionAuthenticatorMixin
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
# Connections are kept, as other servers do.
WSGIRequestHandler.protocol_version = "HTTP/1.1"


class Faults:
    """Refuses requests or breaks off answers, of one bucket and as many as was asked for."""

    def __init__(self, app):
        self.app = app
        self.lock = threading.Lock()
        self.faults = []
        self.requests = {}

    def take(self, method, bucket):
        with self.lock:
            self.requests[bucket] = self.requests.get(bucket, 0) + 1
            for fault in self.faults:
                if fault["bucket"] == bucket and fault.get("method", method) == method:
                    fault["count"] -= 1
                    if fault["count"] <= 0:
                        self.faults.remove(fault)
                    return fault
        return None

    def __call__(self, environ, start_response):
        bucket = environ["PATH_INFO"].lstrip("/").split("/")[0]
        fault = self.take(environ["REQUEST_METHOD"], bucket)
        if fault is None:
            return self.app(environ, start_response)
        if "after" in fault:
            return self.broken(environ, start_response, fault["after"])
        # What is sent has to be read, or the connection is none for the next request.
        environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        body = (
            f"<?xml version=\"1.0\"?><Error><Code>{fault['code']}</Code>"
            f"<Message>{fault['message']}</Message></Error>"
        ).encode()
        headers = [("Content-Type", "application/xml"), ("Content-Length", str(len(body)))]
        start_response(f"{fault['status']} Fault", headers)
        return [body]

    def broken(self, environ, start_response, count):
        def pieces():
            sent = 0
            for piece in self.app(environ, start_response):
                if sent + len(piece) > count:
                    yield piece[: count - sent]
                    raise ConnectionError("broken off, as a test asked")
                sent += len(piece)
                yield piece

        return pieces()


settings.INITIAL_NO_AUTH_ACTION_COUNT = 1_000_000_000
app = Faults(DomainDispatcherApplication(create_backend_app))
server = make_server("127.0.0.1", 0, app, threaded=True)
server.daemon_threads = True
server.log = lambda *ignored: None
address = f"http://127.0.0.1:{server.socket.getsockname()[1]}"
threading.Thread(target=server.serve_forever, daemon=True).start()


def client(service, key="none", secret="none"):
    return boto3.client(
        service, endpoint_url=address, region_name="us-east-1", aws_access_key_id=key,
        aws_secret_access_key=secret, config=Config(retries={"max_attempts": 0}))


def make_user(name, actions):
    iam = client("iam")
    iam.create_user(UserName=name)
    statement = [{"Effect": "Allow", "Action": actions, "Resource": "*"}]
    policy = json.dumps({"Version": "2012-10-17", "Statement": statement})
    iam.put_user_policy(UserName=name, PolicyName=name, PolicyDocument=policy)
    made = iam.create_access_key(UserName=name)["AccessKey"]
    return {"id": made["AccessKeyId"], "secret": made["SecretAccessKey"]}


owner = make_user("owner", ["s3:*"])
reader = make_user("reader", ["s3:GetObject", "s3:ListBucket"])
# From here on every request needs a signature, and a user who may do what it asks for.
settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
ActionAuthenticatorMixin.request_count = 0
s3 = client("s3", owner["id"], owner["secret"])


def keys(bucket):
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket)
    return [item["Key"] for page in pages for item in page.get("Contents", [])]


def run(command):
    bucket = command["bucket"]
    match command["do"]:
        case "make":
            s3.create_bucket(Bucket=bucket)
        case "keys":
            return keys(bucket)
        case "requests":
            return app.requests.get(bucket, 0)
        case "get":
            found = s3.get_object(Bucket=bucket, Key=command["key"])["Body"].read()
            return base64.b64encode(found).decode()
        case "put":
            s3.put_object(
                Bucket=bucket, Key=command["key"], Body=base64.b64decode(command["bytes"]))
        case "remove":
            s3.delete_object(Bucket=bucket, Key=command["key"])
        case "fail":
            with app.lock:
                app.faults.append(command)
    return None


def answer(value):
    print(json.dumps(value), flush=True)


answer({"address": address, "owner": owner, "reader": reader})
for line in sys.stdin:
    try:
        answer({"result": run(json.loads(line))})
    except Exception as error:
        answer({"error": str(error)})
