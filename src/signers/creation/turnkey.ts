import {
  createApiClient,
  readApiUser,
  type TurnkeyApiUser,
  type TurnkeyClient,
} from '../key-services/turnkey.ts'
import { type JsonObject, objectIn, textIn } from '../remote/answers.ts'
import { RemoteFault } from '../remote/remote-key.ts'
import type { Curve } from '../signer.ts'
import { type CreationAnswer, type KeyMaker, otherKey, type WantedKey } from './key-maker.ts'

/** Turnkey's names of the curves. */
const CURVES: Readonly<Record<Curve, string>> = { secp256k1: 'CURVE_SECP256K1', ed25519: 'CURVE_ED25519' }

/** The formats of the addresses that Turnkey shows to people. */
const FORMATS: Readonly<Record<Curve, readonly string[]>> = {
  secp256k1: ['ADDRESS_FORMAT_ETHEREUM'],
  ed25519: ['ADDRESS_FORMAT_SOLANA'],
}

/**
 * Creates private keys in Turnkey. An activity is known by the hash of its body, so the call has the time at
 * which the name was chosen: sent again, it returns the same activity, and never creates a second key.
 */
export const turnkeyKeyMaker: KeyMaker<TurnkeyApiUser> = {
  curves: ['secp256k1', 'ed25519'],
  read: readApiUser,
  show: ({ apiPublicKey, organizationId }) => ({
    api_public_key: apiPublicKey,
    organization_id: organizationId,
  }),
  nameOf: ({ organizationId }) => `Turnkey organization ${organizationId}`,
  find: (target, key, context) => find(createApiClient(target, context), target, key),
  create: async (target, key, context) => {
    const turnkey = createApiClient(target, context)
    const answer = await turnkey('submit/create_private_keys', {
      type: 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2',
      timestampMs: String(key.chosenAt.getTime()),
      organizationId: target.organizationId,
      parameters: {
        privateKeys: [
          {
            privateKeyName: key.name,
            curve: CURVES[key.curve],
            privateKeyTags: [],
            addressFormats: FORMATS[key.curve],
          },
        ],
      },
    }).catch((error: unknown) => {
      throw denied(error)
    })
    return readActivity(objectIn(answer, 'activity'))
  },
  advice:
    'To forbid its deletion and its export, let policies deny ACTIVITY_TYPE_DELETE_PRIVATE_KEYS and ACTIVITY_TYPE_EXPORT_PRIVATE_KEY. To delete it, once its accounts are empty, use the dashboard of Turnkey.',
}

/** The sentences complete "Turnkey organization … ", by the state of the activity. */
const WAITING: Readonly<Record<string, string>> = {
  ACTIVITY_STATUS_CONSENSUS_NEEDED:
    'waits for the consent of others: approve the activity in Turnkey, and then repeat this request',
  ACTIVITY_STATUS_PENDING: 'has not finished the activity: repeat this request in a moment',
  ACTIVITY_STATUS_CREATED: 'has not finished the activity: repeat this request in a moment',
}

function readActivity(activity: JsonObject): CreationAnswer {
  const status = textIn(activity, 'status')
  const waiting = WAITING[status]
  if (waiting !== undefined) return { kind: 'waiting', detail: `${waiting} (${status})` }
  if (status === 'ACTIVITY_STATUS_REJECTED' || status === 'ACTIVITY_STATUS_FAILED')
    throw new RemoteFault(
      'refused',
      `did not create the key: the activity failed or was rejected (${status})`,
    )
  if (status !== 'ACTIVITY_STATUS_COMPLETED') throw new RemoteFault('unavailable', 'returned no activity')
  return { kind: 'called' }
}

/** Finds a key by its name, which is unique in an organization. */
async function find(turnkey: TurnkeyClient, { organizationId }: TurnkeyApiUser, key: WantedKey) {
  const answer = await turnkey('query/list_private_keys', { organizationId })
  if (!Array.isArray(answer.privateKeys)) throw new RemoteFault('unavailable', 'returned no list of keys')
  const named = (answer.privateKeys as JsonObject[]).find((one) => textIn(one, 'privateKeyName') === key.name)
  if (named === undefined) return undefined
  if (textIn(named, 'curve') !== CURVES[key.curve]) throw otherKey(key, `is of ${textIn(named, 'curve')}`)
  if (named.imported === true) throw otherKey(key, 'was imported')
  if (named.exported === true) throw otherKey(key, 'was exported')
  return { private_key_id: textIn(named, 'privateKeyId'), public_key: textIn(named, 'publicKey') }
}

function denied(error: unknown): unknown {
  if (!(error instanceof RemoteFault) || !error.message.includes('(status 403)')) return error
  return new RemoteFault(
    'refused',
    'does not let this API key create keys: a policy must allow ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2 for its user (status 403)',
    { cause: error },
  )
}
