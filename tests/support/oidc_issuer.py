"""A small OpenID Connect issuer in a process of its own: it publishes its keys and signs what it is told."""

import base64
import hashlib
import hmac
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
NEW = rsa.generate_private_key(public_exponent=65537, key_size=2048)
CURVE = ec.generate_private_key(ec.SECP256R1())
STRANGER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
KEYS = {"rsa": (RSA, "RS256"), "curve": (CURVE, "ES256"), "new": (NEW, "RS256"), "stranger": (STRANGER, "RS256")}
PUBLISHED = ["rsa", "curve"]


def jwk(name):
    key, algorithm = KEYS[name]
    writer = RSAAlgorithm if algorithm == "RS256" else ECAlgorithm
    return {**json.loads(writer.to_jwk(key.public_key())), "kid": name, "alg": algorithm, "use": "sig"}


class Issuer(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, told):
        body = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        here = f"http://127.0.0.1:{self.server.server_port}"
        if self.path == "/.well-known/openid-configuration":
            return self.answer({"issuer": here, "jwks_uri": f"{here}/keys"})
        if self.path == "/publish":
            PUBLISHED.append("new")
            return self.answer({})
        return self.answer({"keys": [jwk(name) for name in PUBLISHED]})

    def do_POST(self):
        told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key, algorithm = KEYS[told.get("key", "rsa")]
        if told.get("confused"):  # signed with the text of the public key as a shared secret
            head = base64.urlsafe_b64encode(json.dumps({"alg": "HS256", "kid": "rsa", "typ": "JWT"}).encode())
            body = base64.urlsafe_b64encode(json.dumps(told["claims"]).encode())
            secret = RSA.public_key().public_bytes(
                serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
            )
            text = head.rstrip(b"=") + b"." + body.rstrip(b"=")
            mark = base64.urlsafe_b64encode(hmac.new(secret, text, hashlib.sha256).digest()).rstrip(b"=")
            return self.answer({"token": (text + b"." + mark).decode()})
        headers = {"kid": told.get("kid", told.get("key", "rsa")), **told.get("headers", {})}
        return self.answer({"token": jwt.encode(told["claims"], key, algorithm, headers)})


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Issuer)
    server.serve_forever()
