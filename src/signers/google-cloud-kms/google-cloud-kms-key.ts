import { libsecp256k1 } from '../libsecp256k1.ts'
import { type JsonObject, textIn } from '../remote/json-object.ts'
import { readSpki } from '../remote/public-keys.ts'
import { RemoteFault, type RemoteKey, type SignRequest } from '../remote/remote-key.ts'
import { crc32c } from './crc32c.ts'
import type { KmsClient } from './kms-client.ts'

/** Names one version of a key. */
export interface KeyVersion {
  readonly projectId: string
  readonly location: string
  readonly keyRingId: string
  readonly keyId: string
  readonly keyVersion: number
}

/** Returns the resource name of a version, in which every part is one segment. */
export function resourceName({ projectId, location, keyRingId, keyId, keyVersion }: KeyVersion): string {
  const [project, place, ring, key] = [projectId, location, keyRingId, keyId].map(encodeURIComponent)
  return `projects/${project}/locations/${place}/keyRings/${ring}/cryptoKeys/${key}/cryptoKeyVersions/${keyVersion}`
}

/** Connects to one version of a key of Cloud KMS. Checksums protect what is signed and what comes back, as Google asks its clients. */
export function connectGoogleCloudKms(key: KeyVersion, kms: KmsClient): RemoteKey {
  return {
    name: `Google Cloud KMS key ${resourceName(key)}`,
    publicKeys: async () => {
      const answer = await kms({ method: 'GET', suffix: '/publicKey' })
      const pem = textIn(answer, 'pem')
      compare(Buffer.from(pem), answer.pemCrc32c)
      return readSpki(pem)
    },
    sign: async ({ curve, payload }) => {
      const answer = await kms({ method: 'POST', suffix: ':asymmetricSign', body: requestOf(curve, payload) })
      return signatureOf(curve, answer)
    },
  }
}

/** A key of secp256k1 signs a digest, which Cloud KMS calls SHA-256 and does not compute itself; one of Ed25519 signs the message. */
function requestOf(curve: SignRequest['curve'], payload: Uint8Array): object {
  const [content, checksum] = [Buffer.from(payload).toString('base64'), String(crc32c(payload))]
  return curve === 'ed25519'
    ? { data: content, dataCrc32c: checksum }
    : { digest: { sha256: content }, digestCrc32c: checksum }
}

function signatureOf(curve: SignRequest['curve'], answer: JsonObject): Uint8Array {
  const isVerified = curve === 'ed25519' ? answer.verifiedDataCrc32c : answer.verifiedDigestCrc32c
  if (isVerified !== true)
    throw new RemoteFault('unavailable', 'did not confirm the checksum of what it signed')
  const signature = new Uint8Array(Buffer.from(textIn(answer, 'signature'), 'base64'))
  compare(signature, answer.signatureCrc32c)
  return curve === 'ed25519' ? signature : fromDer(signature)
}

/** @throws RemoteFault when the content was damaged on its way */
function compare(content: Uint8Array, checksum: unknown): void {
  if (String(checksum) !== String(crc32c(content)))
    throw new RemoteFault('unavailable', 'gave an answer with a wrong checksum')
}

/** Google writes ECDSA signatures in DER. */
function fromDer(signature: Uint8Array): Uint8Array {
  try {
    return libsecp256k1().signatureImport(signature)
  } catch (cause) {
    throw new RemoteFault('unavailable', 'gave a signature that cannot be read', { cause })
  }
}
