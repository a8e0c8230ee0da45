import { oneOf } from '../../lib/fields.ts'
import {
  ALGORITHMS,
  connectKms,
  type GoogleTarget,
  type KmsClient,
  keyRingName,
  readAccount,
  readKeyRing,
} from '../key-services/google-cloud-kms.ts'
import type { SignerFields } from '../providers/provider.ts'
import { objectIn, textIn } from '../remote/answers.ts'
import { RemoteFault } from '../remote/remote-key.ts'
import { type KeyMaker, otherKey, type WantedKey } from './key-maker.ts'

/** The protection of a key. Google keeps keys of secp256k1 in hardware alone. */
type Protection = 'HSM' | 'SOFTWARE'

interface Target extends GoogleTarget {
  readonly protection: Protection
}

/** Creates keys in Google Cloud KMS, whose names are for ever. A name that is taken is refused by Google. */
export const googleKeyMaker: KeyMaker<Target> = {
  curves: ['secp256k1', 'ed25519'],
  read: (fields) => {
    const account = fields.findObject('service_account', readAccount)
    return {
      ...(account && { serviceAccount: account, universeDomain: account.universeDomain }),
      ...fields.object('key', (key) => readRing(key, account?.projectId)),
    }
  },
  show: ({ ring, protection }) => ({
    key: {
      project_id: ring.projectId,
      location: ring.location,
      key_ring_id: ring.keyRingId,
      protection_level: protection,
    },
  }),
  nameOf: ({ ring }) => `Google Cloud KMS key ring ${keyRingName(ring)}`,
  find: async (target, key, context) => find(target, key, await connectKms(target, context)),
  create: async (target, key, context) => {
    const kms = await connectKms(target, context)
    if (key.curve === 'secp256k1' && target.protection !== 'HSM')
      throw new RemoteFault('refused', 'has keys of secp256k1 in hardware alone: leave protection_level out')
    await create(target, key, kms)
    return { kind: 'called' }
  },
  advice:
    'Google deletes neither keys nor their names. To forbid that its version is destroyed, give no one cloudkms.cryptoKeyVersions.destroy. To destroy it, once its accounts are empty: gcloud kms keys versions destroy 1; it can be restored for 30 days.',
}

function readRing(fields: SignerFields, projectOfAccount: string | undefined) {
  const protection = fields.find('protection_level', oneOf('HSM', 'SOFTWARE')) ?? 'HSM'
  return { ring: readKeyRing(fields, projectOfAccount), protection }
}

const DENIED =
  'does not let this service create keys: allow it cloudkms.cryptoKeys.create, cloudkms.cryptoKeys.get and cloudkms.cryptoKeyVersions.get on the key ring (PERMISSION_DENIED)'

async function create(target: Target, key: WantedKey, kms: KmsClient): Promise<void> {
  const ring = keyRingName(target.ring)
  try {
    await kms({
      method: 'POST',
      suffix: `${ring}/cryptoKeys?cryptoKeyId=${key.name}`,
      body: {
        purpose: 'ASYMMETRIC_SIGN',
        versionTemplate: { algorithm: ALGORITHMS[key.curve], protectionLevel: target.protection },
        labels: { relayer: key.name },
      },
    })
  } catch (error) {
    // An earlier call has arrived.
    if (isStatus(error, 'ALREADY_EXISTS')) return
    if (isStatus(error, 'NOT_FOUND'))
      throw new RemoteFault('refused', 'does not exist: create the key ring first (NOT_FOUND)', {
        cause: error,
      })
    if (isStatus(error, 'INVALID_ARGUMENT'))
      throw new RemoteFault('refused', 'creates no key of this kind in this location (INVALID_ARGUMENT)', {
        cause: error,
      })
    throw denied(error)
  }
}

/** Finds the key, and checks that Google itself created its first version. */
async function find(target: Target, key: WantedKey, kms: KmsClient) {
  const name = `${keyRingName(target.ring)}/cryptoKeys/${key.name}`
  const get = (suffix: string) =>
    kms({ method: 'GET', suffix }).catch((error: unknown) => {
      if (isStatus(error, 'NOT_FOUND')) return undefined
      throw denied(error)
    })
  const found = await get(name)
  if (found === undefined) return undefined
  const algorithm = textIn(objectIn(found, 'versionTemplate'), 'algorithm')
  if (algorithm !== ALGORITHMS[key.curve]) throw otherKey(key, `has the algorithm ${algorithm}`)
  const version = await get(`${name}/cryptoKeyVersions/1`)
  if (version !== undefined && (textIn(version, 'importJob') !== '' || textIn(version, 'importTime') !== ''))
    throw otherKey(key, 'was imported')
  return fieldsOf(target, key)
}

function fieldsOf({ ring }: Target, { name }: WantedKey) {
  return {
    key: {
      project_id: ring.projectId,
      location: ring.location,
      key_ring_id: ring.keyRingId,
      key_id: name,
      key_version: 1,
    },
  }
}

/** The messages of the client end with Google's status. */
function isStatus(error: unknown, status: string): boolean {
  return error instanceof RemoteFault && error.message.endsWith(`(${status})`)
}

function denied(error: unknown): unknown {
  return isStatus(error, 'PERMISSION_DENIED') ? new RemoteFault('refused', DENIED, { cause: error }) : error
}
