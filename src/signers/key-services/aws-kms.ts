import type { KeyMetadata } from '@aws-sdk/client-kms'
import { type FieldType, text } from '../../lib/fields.ts'
import { loadPackage, type RemoteProvider } from '../providers/provider.ts'
import { RemoteFault, type RemoteKey, readSpki, type SignRequest } from '../remote/remote-key.ts'
import { type KeyMaterial, readWrappingKey, wrapWithRsa } from '../remote/wrap-key.ts'
import { libsecp256k1 } from '../secp256k1.ts'

/** A region is part of a host name, so no other character is allowed. */
export const region: FieldType<string> = {
  expected: 'a region such as eu-west-1',
  read: (value) => (typeof value === 'string' && /^[a-z]{2,}(-[a-z0-9]+)+$/.test(value) ? value : undefined),
  blank: '',
}

/**
 * A key of AWS KMS, of the specification ECC_SECG_P256K1 or ECC_NIST_EDWARDS25519. Credentials come from the
 * default chain of AWS.
 */
export const awsKms: RemoteProvider<AwsKmsConfig> = {
  kind: 'remote',
  curves: ['secp256k1', 'ed25519'],
  read: (fields) => ({ region: fields.get('region', region), keyId: fields.get('key_id', text) }),
  show: ({ region, keyId }) => ({ region, key_id: keyId }),
  connect: connectAwsKms,
  importKey: async (config, _context, material) => importIntoAwsKms(config, material),
}

/** The fields have the names of existing configuration files. */
interface AwsKmsConfig {
  readonly region: string
  /** The id, the ARN or the alias of an asymmetric key. */
  readonly keyId: string
}

/**
 * Connects to a key of AWS KMS.
 * @throws MissingPackageError
 */
async function connectAwsKms({ region, keyId }: AwsKmsConfig): Promise<RemoteKey> {
  const { KMSClient, GetPublicKeyCommand, SignCommand } = await loadPackage(
    '@aws-sdk/client-kms',
    () => import('@aws-sdk/client-kms'),
  )
  // Repetitions are the work of the room around this, so that limits and time-outs cover them.
  const client = new KMSClient({ region, maxAttempts: 1 })
  return {
    name: `AWS KMS key ${keyId} in ${region}`,
    publicKeys: async (signal) => {
      const answer = await translated(
        client.send(new GetPublicKeyCommand({ KeyId: keyId }), { abortSignal: signal }),
      )
      if (answer.KeyUsage !== undefined && answer.KeyUsage !== 'SIGN_VERIFY')
        throw new RemoteFault('refused', 'is not a key for signing (its usage must be SIGN_VERIFY)')
      return readSpki(answer.PublicKey ?? new Uint8Array())
    },
    sign: async ({ curve, payload, signal }) => {
      const command = new SignCommand({ KeyId: keyId, Message: payload, ...ALGORITHMS[curve] })
      const { Signature } = await translated(client.send(command, { abortSignal: signal }))
      return toBytes(curve, Signature ?? new Uint8Array())
    },
  }
}

/**
 * KMS signs a digest with `DIGEST`; `RAW` lets it hash the message itself, which Ed25519 needs (PureEdDSA).
 */
const ALGORITHMS = {
  secp256k1: { MessageType: 'DIGEST', SigningAlgorithm: 'ECDSA_SHA_256' },
  ed25519: { MessageType: 'RAW', SigningAlgorithm: 'ED25519_SHA_512' },
} as const

/** KMS writes ECDSA signatures in DER (X9.62). */
function toBytes(curve: SignRequest['curve'], signature: Uint8Array): Uint8Array {
  if (curve === 'ed25519') return signature
  try {
    return libsecp256k1().signatureImport(signature)
  } catch (cause) {
    throw new RemoteFault('unavailable', 'returned an unreadable signature', { cause })
  }
}

async function translated<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    throw toRemoteFault(error)
  }
}

/** The specifications of keys, by curve. */
export const SPECS = { secp256k1: 'ECC_SECG_P256K1', ed25519: 'ECC_NIST_EDWARDS25519' } as const

/** RSA-OAEP takes the private key directly, and every region has it; a longer wrapping key costs nothing. */
const WRAPPING = { WrappingAlgorithm: 'RSAES_OAEP_SHA_256', WrappingKeySpec: 'RSA_4096' } as const

/**
 * Imports a private key into a key of AWS KMS that was created without one (origin EXTERNAL).
 * @throws RemoteFault, MissingPackageError
 */
async function importIntoAwsKms({ region, keyId }: AwsKmsConfig, material: KeyMaterial): Promise<void> {
  const { KMSClient, DescribeKeyCommand, GetParametersForImportCommand, ImportKeyMaterialCommand } =
    await loadPackage('@aws-sdk/client-kms', () => import('@aws-sdk/client-kms'))
  const client = new KMSClient({ region, maxAttempts: 1 })
  try {
    const { KeyMetadata } = await client.send(new DescribeKeyCommand({ KeyId: keyId }))
    // Only signatures and descriptions can be requested by alias.
    const KeyId = checkedKey(KeyMetadata, SPECS[material.curve])
    const { PublicKey, ImportToken } = await client.send(
      new GetParametersForImportCommand({ KeyId, ...WRAPPING }),
    )
    const EncryptedKeyMaterial = wrapWithRsa(material, readWrappingKey(PublicKey ?? new Uint8Array()))
    const ExpirationModel = 'KEY_MATERIAL_DOES_NOT_EXPIRE'
    await client.send(
      new ImportKeyMaterialCommand({ KeyId, ImportToken, EncryptedKeyMaterial, ExpirationModel }),
    )
  } catch (error) {
    throw faultOf(error)
  } finally {
    client.destroy()
  }
}

function checkedKey(metadata: KeyMetadata | undefined, spec: string): string {
  const { Arn = '', Origin, KeySpec } = metadata ?? {}
  if (Origin !== 'EXTERNAL')
    throw new RemoteFault(
      'refused',
      `has its own key (origin ${Origin}): create one with aws kms create-key --origin EXTERNAL --key-usage SIGN_VERIFY --key-spec ${spec}`,
    )
  if (KeySpec !== spec) throw new RemoteFault('refused', `is of the specification ${KeySpec}, not ${spec}`)
  return Arn
}

function faultOf(error: unknown): RemoteFault {
  if (error instanceof Error && error.name === 'AccessDeniedException')
    return new RemoteFault(
      'refused',
      'is denied: allow kms:DescribeKey, kms:GetParametersForImport and kms:ImportKeyMaterial on it for the import (AccessDeniedException)',
      { cause: error },
    )
  return toRemoteFault(error)
}

/** KMS requests fewer calls in these ways. */
const THROTTLED = new Set([
  'ThrottlingException',
  'Throttling',
  'TooManyRequestsException',
  'LimitExceededException',
])

/**
 * The sentences complete "AWS KMS key … ". They name the error of KMS, so that its documentation can be
 * found.
 */
const REFUSED: Readonly<Record<string, string>> = {
  AccessDeniedException: 'is denied: allow kms:GetPublicKey and kms:Sign on it',
  DisabledException: 'is disabled: enable it',
  IncorrectKeyException: 'is not the named key',
  InvalidArnException: 'has an ARN that KMS does not accept',
  InvalidKeyUsageException: 'is not a key for signing',
  KMSInvalidStateException: 'cannot be used in its state: it may be pending deletion or import',
  NotFoundException: 'does not exist in this account and region',
  UnsupportedOperationException: 'cannot sign in this way',
  ValidationException: 'cannot sign in this way',
  // The credentials are wrong, not the key.
  IncompleteSignature: 'cannot be used: the AWS credentials are incomplete',
  InvalidClientTokenId: 'cannot be used: the AWS access key does not exist',
  InvalidSignatureException: 'cannot be used: the AWS secret key is wrong, or the clock of this machine',
  MissingAuthenticationTokenException: 'cannot be used: there are no AWS credentials',
  OptInRequired: 'cannot be used: the AWS account has no KMS in this region',
  UnrecognizedClientException: 'cannot be used: the AWS access key does not exist',
}

/**
 * Translates an error of the SDK. Its own message can contain ARNs of users, so only the name is passed on;
 * everything else stays in the cause.
 */
export function toRemoteFault(error: unknown): RemoteFault {
  if (error instanceof RemoteFault) return error
  const name = error instanceof Error ? error.name : 'unknown error'
  if (THROTTLED.has(name))
    return new RemoteFault('throttled', `gets too many calls (${name})`, { cause: error })
  const refusal = REFUSED[name]
  if (refusal !== undefined) return new RemoteFault('refused', `${refusal} (${name})`, { cause: error })
  // Expired sessions and silent credential sources recover on their own.
  return new RemoteFault('unavailable', `cannot be reached (${name})`, { cause: error })
}
