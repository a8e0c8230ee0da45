import { type JsonObject, objectIn, textIn } from '../remote/json-object.ts'
import { samePublicKeys } from '../remote/public-keys.ts'
import { type PublicKeys, RemoteFault, type RemoteKey, type SignRequest } from '../remote/remote-key.ts'
import { readTurnkeyPublicKey } from './public-key.ts'
import type { TurnkeyClient } from './turnkey-client.ts'

interface TurnkeyKeyOptions {
  readonly turnkey: TurnkeyClient
  readonly organizationId: string
  /** The id of a private key, or the address of an account of a wallet. */
  readonly privateKeyId: string
  readonly publicKeys: PublicKeys
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The digest of secp256k1 is signed as it is, and Ed25519 hashes by itself. */
const HASH_FUNCTIONS: Readonly<Record<SignRequest['curve'], string>> = {
  secp256k1: 'HASH_FUNCTION_NO_OP',
  ed25519: 'HASH_FUNCTION_NOT_APPLICABLE',
}

/** Connects to a key of Turnkey. Its public key is configured, because Turnkey tells only that of a private key, not that of a wallet account. */
export function connectTurnkey({
  turnkey,
  organizationId,
  privateKeyId,
  publicKeys,
}: TurnkeyKeyOptions): RemoteKey {
  async function checkPrivateKey(): Promise<void> {
    const answer = await turnkey('query/get_private_key', { organizationId, privateKeyId })
    const text = textIn(objectIn(answer, 'privateKey'), 'publicKey')
    if (text === '') throw new RemoteFault('unavailable', 'gave an answer without a public key')
    const found = readTurnkeyPublicKey(text)
    if (found === undefined || !samePublicKeys(found, publicKeys))
      throw new RemoteFault('refused', 'has another public key than the configured public_key')
  }

  /** A wallet account cannot be asked for, so the API key is checked alone; each signature is checked against the public key anyway. */
  async function checkApiKey(): Promise<void> {
    const answer = await turnkey('query/whoami', { organizationId })
    if (textIn(answer, 'organizationId') !== organizationId)
      throw new RemoteFault('unavailable', 'gave an answer about another organization')
  }

  return {
    name: `Turnkey key ${privateKeyId}`,
    publicKeys: async () => {
      await (UUID.test(privateKeyId) ? checkPrivateKey() : checkApiKey())
      return publicKeys
    },
    sign: async ({ curve, payload }) => {
      const answer = await turnkey('submit/sign_raw_payload', {
        type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
        timestampMs: String(Date.now()),
        organizationId,
        parameters: {
          signWith: privateKeyId,
          payload: Buffer.from(payload).toString('hex'),
          encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
          hashFunction: HASH_FUNCTIONS[curve],
        },
      })
      return signatureOf(objectIn(answer, 'activity'))
    },
  }
}

/** The sentences complete "Turnkey key … ", by the state of the activity. */
const REFUSED: Readonly<Record<string, string>> = {
  ACTIVITY_STATUS_CONSENSUS_NEEDED:
    'needs the consent of others: a policy must let the user of the API key sign with it alone',
  ACTIVITY_STATUS_REJECTED: 'is denied: the activity was rejected',
  ACTIVITY_STATUS_FAILED: 'cannot sign: the activity failed',
}

function signatureOf(activity: JsonObject): Uint8Array {
  const status = textIn(activity, 'status')
  const refusal = REFUSED[status]
  if (refusal !== undefined) throw new RemoteFault('refused', `${refusal} (${status})`)
  if (status !== 'ACTIVITY_STATUS_COMPLETED') throw new RemoteFault('unavailable', 'gave no signature yet')
  const result = objectIn(objectIn(activity, 'result'), 'signRawPayloadResult')
  return new Uint8Array(Buffer.from(textIn(result, 'r') + textIn(result, 's'), 'hex'))
}
