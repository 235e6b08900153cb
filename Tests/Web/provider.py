# SPDX-License-Identifier: Apache-2.0
"""A small provider of OpenID Connect on this machine: discovery, the code flow with PKCE, and tokens that PyJWT signs."""
import base64
import hashlib
import http.server
import json
import secrets
import threading
import time
import urllib.parse

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa


class Provider:
    """Knows one program, and signs in whoever asks under the name that they type."""

    CLIENT = "tidebell"
    SECRET = "secret of: the program"

    def __init__(self, algorithm="RS256"):
        self.algorithm = algorithm
        self.key = (rsa.generate_private_key(65537, 2048) if algorithm == "RS256"
                    else ec.generate_private_key(ec.SECP256R1()))
        self.codes = {}
        self.redirect = None
        provider = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                provider.get(self)

            def do_POST(self):
                provider.post(self)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, request, status, body, kind="application/json", **headers):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        request.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(body)

    def get(self, request):
        url = urllib.parse.urlparse(request.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        if url.path == "/.well-known/openid-configuration":
            return self.answer(request, 200, {
                "issuer": self.issuer, "authorization_endpoint": self.issuer + "/authorize",
                "token_endpoint": self.issuer + "/token", "jwks_uri": self.issuer + "/keys"})
        if url.path == "/keys":
            key = json.loads(jwt.get_algorithm_by_name(self.algorithm).to_jwk(self.key.public_key()))
            return self.answer(request, 200, {"keys": [{**key, "kid": "one", "use": "sig"}]})
        if url.path == "/authorize" and "user" not in query:
            fields = "".join(f'<input type="hidden" name="{name}" value="{value}">'
                             for name, value in query.items())
            page = (f"<!doctype html><title>Provider</title><h1>The provider</h1><form>{fields}"
                    '<label>Who <input name="user"></label><button>Agree</button></form>')
            return self.answer(request, 200, page.encode(), "text/html")
        if url.path == "/authorize":
            assert query["client_id"] == self.CLIENT and query["response_type"] == "code"
            assert query["code_challenge_method"] == "S256" and query["redirect_uri"] == self.redirect
            back = {"state": query["state"]}
            if query["user"] == "nobody":
                back["error"] = "access_denied"
            else:
                back["code"] = secrets.token_urlsafe(32)
                self.codes[back["code"]] = query
            return self.answer(request, 302, b"", Location=self.redirect + "?" + urllib.parse.urlencode(back))
        self.answer(request, 404, {})

    def post(self, request):
        form = dict(urllib.parse.parse_qsl(
            request.rfile.read(int(request.headers["Content-Length"])).decode()))
        pair = base64.b64decode(request.headers["Authorization"].removeprefix("Basic ")).decode()
        # A code is good once.
        asked = self.codes.pop(form.get("code"), None)
        challenge = base64.urlsafe_b64encode(
            hashlib.sha256(form["code_verifier"].encode()).digest()).decode().rstrip("=")
        if (asked is None or [urllib.parse.unquote_plus(part) for part in pair.split(":")]
                != [self.CLIENT, self.SECRET] or challenge != asked["code_challenge"]
                or form["redirect_uri"] != self.redirect or form["grant_type"] != "authorization_code"):
            return self.answer(request, 400, {"error": "invalid_grant"})
        now = int(time.time())
        token = jwt.encode(
            {"iss": self.issuer, "aud": self.CLIENT, "sub": "subject of " + asked["user"], "iat": now,
             "exp": now + 300, "nonce": asked["nonce"], "preferred_username": asked["user"]},
            self.key, algorithm=self.algorithm, headers={"kid": "one"})
        self.answer(request, 200, {"id_token": token, "access_token": "x", "token_type": "Bearer"})
