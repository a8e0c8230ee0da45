"""
Serves AWS KMS by moto, with keys of known secrets, until its standard input ends.

moto signs every message as if it were RAW, has no Ed25519 keys, and lets disabled keys sign. The patches below add what the API reference
of KMS says: MessageType DIGEST, the key specification ECC_NIST_EDWARDS25519 with ED25519_SHA_512, and DisabledException.

Usage: moto-kms.py PORT REGION alias=ECC_SECG_P256K1=HEX alias=ECC_NIST_EDWARDS25519=HEX …
"""
import sys
import threading

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, utils as ec_utils
from moto.core.exceptions import JsonRESTError
from moto.kms import models, responses, utils
from moto.server import ThreadedMotoServer

ED25519 = "ECC_NIST_EDWARDS25519"
call = threading.local()


class Ed25519Key:
    def __init__(self, secret):
        self.private_key = ed25519.Ed25519PrivateKey.from_private_bytes(secret)

    def sign(self, message, signing_algorithm):
        if signing_algorithm != "ED25519_SHA_512" or call.message_type != "RAW":
            raise models.ValidationException("Ed25519 signs RAW messages by ED25519_SHA_512")
        return self.private_key.sign(message)

    def public_key(self):
        return self.private_key.public_key().public_bytes(
            encoding=serialization.Encoding.DER, format=serialization.PublicFormat.SubjectPublicKeyInfo
        )


def sign_ecdsa(self, message, signing_algorithm):
    if call.message_type != "DIGEST":
        return sign_raw(self, message, signing_algorithm)
    if len(message) != 32:
        raise models.ValidationException("Digest is invalid length for algorithm ECDSA_SHA_256")
    return self.private_key.sign(message, ec.ECDSA(ec_utils.Prehashed(hashes.SHA256())))


def refuse_disabled(response):
    key_id = response._get_param("KeyId")
    response._validate_key_id(key_id)
    key = response.kms_backend.describe_key(key_id)
    if not key.enabled:
        raise JsonRESTError("DisabledException", f"{key.arn} is disabled.")


def sign(self):
    call.message_type = self._get_param("MessageType") or "RAW"
    refuse_disabled(self)
    return plain_sign(self)


def get_public_key(self):
    refuse_disabled(self)
    return plain_get_public_key(self)


sign_raw = utils.ECDSAPrivateKey.sign
plain_sign = responses.KmsResponse.sign
plain_get_public_key = responses.KmsResponse.get_public_key
plain_algorithms = models.Key.signing_algorithms.fget
utils.ECDSAPrivateKey.sign = sign_ecdsa
responses.KmsResponse.sign = sign
responses.KmsResponse.get_public_key = get_public_key
models.Key.signing_algorithms = property(
    lambda self: ["ED25519_SHA_512"] if self.key_spec == ED25519 else plain_algorithms(self)
)
models.KmsBackend._KmsBackend__ensure_valid_signing_algorithm = lambda self, key, algorithm: None


def create(region, text):
    alias, spec, secret = text.split("=")
    backend = models.kms_backends["123456789012"][region]
    key = backend.create_key(
        policy="", key_usage="SIGN_VERIFY", key_spec="ECC_SECG_P256K1", description=alias, tags=None
    )
    if spec == ED25519:
        key.key_spec = ED25519
        key.private_key = Ed25519Key(bytes.fromhex(secret))
    else:
        key.private_key.private_key = ec.derive_private_key(int(secret, 16), ec.SECP256K1())
    backend.create_alias(key.id, alias)


port, region, *keys = sys.argv[1:]
for text in keys:
    create(region, text)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=int(port), verbose=False)
server.start()
print(f"ready {server.get_host_and_port()[1]}", flush=True)
sys.stdin.read()
