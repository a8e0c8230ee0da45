import type { PostAnswer } from '../../lib/http/http-client.ts'
import { objectIn, readJsonObject, textIn } from '../remote/json-object.ts'
import { RemoteFault } from '../remote/remote-key.ts'

/** The sentences complete "Google Cloud KMS key … ". They name Google's status, so that its documentation can be found. */
const REFUSED: Readonly<Record<string, string>> = {
  FAILED_PRECONDITION: 'cannot be used in its state: its version may be disabled or destroyed',
  INVALID_ARGUMENT: 'cannot sign in this way',
  NOT_FOUND: 'does not exist',
  PERMISSION_DENIED:
    'is denied: allow cloudkms.cryptoKeyVersions.viewPublicKey and cloudkms.cryptoKeyVersions.useToSign on it (the role Cloud KMS CryptoKey Signer/Verifier has both)',
  UNAUTHENTICATED: 'cannot be asked: Google does not accept the credentials',
}

/** Translates an answer that is not a success. Google's message can name users, so only the status goes on. */
export function failureOf({ status, body }: PostAnswer): RemoteFault {
  if (status === 429) return new RemoteFault('throttled', 'gets too many calls (status 429)')
  if (status >= 500) return new RemoteFault('unavailable', `cannot be reached (status ${status})`)
  const error = objectIn(readJsonObject(body), 'error')
  const name = textIn(error, 'status')
  // Google found that the request was damaged on its way, which says nothing about the key.
  if (/crc32c|checksum/i.test(textIn(error, 'message')))
    return new RemoteFault('unavailable', 'got a damaged request')
  const refusal = REFUSED[name]
  if (refusal !== undefined) return new RemoteFault('refused', `${refusal} (${name})`)
  return new RemoteFault('unavailable', `gave no usable answer (status ${status})`)
}
