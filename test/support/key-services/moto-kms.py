"""
Serves AWS KMS by moto, with keys of known secrets, until its standard input ends.

moto signs every message as if it were RAW, has no Ed25519 keys, and lets disabled keys sign. The patches below add what the API reference
of KMS says: MessageType DIGEST, the key specification ECC_NIST_EDWARDS25519 with ED25519_SHA_512, DisabledException, and the import of key
material (GetParametersForImport, ImportKeyMaterial), which is really decrypted and read. Keys of Ed25519 can also be created (CreateKey).

Usage: moto-kms.py PORT REGION alias=ECC_SECG_P256K1=HEX alias=ECC_NIST_EDWARDS25519=EXTERNAL …
"""
import base64
import json
import secrets
import sys
import threading

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils as ec_utils
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
    if key.key_state == "PendingImport":
        raise JsonRESTError("KMSInvalidStateException", f"{key.arn} is pending import.")


def sign(self):
    call.message_type = self._get_param("MessageType") or "RAW"
    refuse_disabled(self)
    return plain_sign(self)


def get_public_key(self):
    refuse_disabled(self)
    return plain_get_public_key(self)


def create_key(self):
    """Accepts what the API reference lists, and makes keys of Ed25519, which moto does not know."""
    known = {"KeySpec", "KeyUsage", "Origin", "Description", "Tags", "Policy", "MultiRegion"}
    unknown = set(json.loads(self.body)) - known
    if unknown:
        raise models.ValidationException(f"Unknown parameters {unknown}")
    if self._get_param("KeySpec") != ED25519:
        return plain_create_key(self)
    key = self.kms_backend.create_key(
        policy="", key_usage=self._get_param("KeyUsage"), key_spec="ECC_SECG_P256K1",
        description=self._get_param("Description"), tags=self._get_param("Tags"), origin="AWS_KMS"
    )
    key.key_spec = ED25519
    key.private_key = Ed25519Key(secrets.token_bytes(32))
    return json.dumps(key.to_dict())


def find_external(response):
    key_id = response._get_param("KeyId")
    if key_id.startswith("alias/"):
        raise models.ValidationException("The key must be named by its id or ARN")
    response._validate_key_id(key_id)
    key = response.kms_backend.describe_key(response.kms_backend.get_key_id(key_id))
    if key.origin != "EXTERNAL":
        raise JsonRESTError("UnsupportedOperationException", f"{key.arn} has a key of its own.")
    return key


def get_parameters_for_import(self):
    key = find_external(self)
    asked = (self._get_param("WrappingAlgorithm"), self._get_param("WrappingKeySpec"))
    if asked != ("RSAES_OAEP_SHA_256", "RSA_4096"):
        raise models.ValidationException("The tests know one way of wrapping")
    key.wrapping_key = rsa.generate_private_key(public_exponent=65537, key_size=4096)
    key.import_token = secrets.token_bytes(32)
    public_key = key.wrapping_key.public_key().public_bytes(
        encoding=serialization.Encoding.DER, format=serialization.PublicFormat.SubjectPublicKeyInfo
    )
    text = lambda content: base64.b64encode(content).decode()
    return json.dumps({"KeyId": key.arn, "ImportToken": text(key.import_token), "PublicKey": text(public_key)})


def import_key_material(self):
    key = find_external(self)
    if base64.b64decode(self._get_param("ImportToken")) != key.import_token:
        raise JsonRESTError("InvalidImportTokenException", "The token is of another request.")
    if self._get_param("ExpirationModel") != "KEY_MATERIAL_DOES_NOT_EXPIRE":
        raise models.ValidationException("ValidTo is missing")
    oaep = padding.OAEP(mgf=padding.MGF1(hashes.SHA256()), algorithm=hashes.SHA256(), label=None)
    try:
        plain = key.wrapping_key.decrypt(base64.b64decode(self._get_param("EncryptedKeyMaterial")), oaep)
        secret = serialization.load_der_private_key(plain, password=None)
    except ValueError:
        raise JsonRESTError("InvalidCiphertextException", "The key material cannot be decrypted.")
    if key.key_spec == ED25519:
        if not isinstance(secret, ed25519.Ed25519PrivateKey):
            raise JsonRESTError("IncorrectKeyMaterialException", "The key is of another kind.")
        key.private_key = Ed25519Key(secret.private_bytes_raw())
    else:
        if not isinstance(getattr(secret, "curve", None), ec.SECP256K1):
            raise JsonRESTError("IncorrectKeyMaterialException", "The key is of another curve.")
        key.private_key.private_key = secret
    key.key_state = "Enabled"
    return json.dumps({})


sign_raw = utils.ECDSAPrivateKey.sign
plain_sign = responses.KmsResponse.sign
plain_create_key = responses.KmsResponse.create_key
plain_get_public_key = responses.KmsResponse.get_public_key
plain_algorithms = models.Key.signing_algorithms.fget
utils.ECDSAPrivateKey.sign = sign_ecdsa
responses.KmsResponse.sign = sign
responses.KmsResponse.create_key = create_key
responses.KmsResponse.get_parameters_for_import = get_parameters_for_import
responses.KmsResponse.import_key_material = import_key_material
responses.KmsResponse.get_public_key = get_public_key
models.Key.signing_algorithms = property(
    lambda self: ["ED25519_SHA_512"] if self.key_spec == ED25519 else plain_algorithms(self)
)
models.KmsBackend._KmsBackend__ensure_valid_signing_algorithm = lambda self, key, algorithm: None


def create(region, text):
    alias, spec, secret = text.split("=")
    backend = models.kms_backends["123456789012"][region]
    origin = "EXTERNAL" if secret == "EXTERNAL" else "AWS_KMS"
    key = backend.create_key(
        policy="", key_usage="SIGN_VERIFY", key_spec="ECC_SECG_P256K1", description=alias, tags=None, origin=origin
    )
    if spec == ED25519:
        key.key_spec = ED25519
    if origin == "EXTERNAL":
        key.key_state = "PendingImport"
    elif spec == ED25519:
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
