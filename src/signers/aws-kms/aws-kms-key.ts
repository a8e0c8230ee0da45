import { libsecp256k1 } from '../libsecp256k1.ts'
import { loadPackage } from '../providers/load-package.ts'
import { readSpki } from '../remote/public-keys.ts'
import { RemoteFault, type RemoteKey, type SignRequest } from '../remote/remote-key.ts'
import { toRemoteFault } from './failures.ts'

/** The fields have the names of existing configuration files. */
export interface AwsKmsConfig {
  readonly region: string
  /** The id, the ARN or the alias of an asymmetric key. */
  readonly keyId: string
}

/**
 * Connects to a key of AWS KMS.
 * @throws MissingPackageError
 */
export async function connectAwsKms({ region, keyId }: AwsKmsConfig): Promise<RemoteKey> {
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

/** KMS signs a digest with `DIGEST`; `RAW` lets it hash the message itself, which Ed25519 needs (PureEdDSA). */
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
    throw new RemoteFault('unavailable', 'gave a signature that cannot be read', { cause })
  }
}

async function translated<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    throw toRemoteFault(error)
  }
}
