import { randomBytes } from 'node:crypto'
import { systemClock } from '../../lib/time/clock.ts'
import type { KeyMaterial } from '../import/key-material.ts'
import { wrapWithRsaAes } from '../import/wrap.ts'
import { readWrappingKey } from '../import/wrapping-key.ts'
import { type JsonObject, objectIn, textIn } from '../remote/json-object.ts'
import { RemoteFault } from '../remote/remote-key.ts'
import { type KeyVersion, resourceName } from './google-cloud-kms-key.ts'
import type { KmsClient } from './kms-client.ts'

/** The algorithms of keys, by curve. */
const ALGORITHMS = { secp256k1: 'EC_SIGN_SECP256K1_SHA256', ed25519: 'EC_SIGN_ED25519' } as const

const METHOD = 'RSA_OAEP_3072_SHA256_AES_256'

/** Google makes the wrapping key of an import job, and checks imported material, in a few seconds. Pause and limit are in ms. */
const LOOK_EVERY_MS = 500
const GIVE_UP_MS = 120_000

interface ImportOptions {
  readonly key: KeyVersion
  /** Asks paths below `/v1/`. */
  readonly kms: KmsClient
}

/**
 * Imports a private key as the next version of a key of Cloud KMS, by an import job of its own. The job lapses after three days.
 * @throws RemoteFault
 */
export async function importIntoGoogleCloud(options: ImportOptions, material: KeyMaterial): Promise<void> {
  try {
    await importVersion(options, material)
  } catch (error) {
    if (!(error instanceof RemoteFault) || !error.message.startsWith('is denied')) throw error
    throw new RemoteFault(
      'refused',
      'is denied: the import needs the roles Cloud KMS Importer and Cloud KMS Viewer on the key ring',
      { cause: error },
    )
  }
}

async function importVersion({ key, kms }: ImportOptions, material: KeyMaterial): Promise<void> {
  const version = resourceName(key)
  const cryptoKey = version.replace(/\/cryptoKeyVersions\/\d+$/, '')
  const keyRing = cryptoKey.replace(/\/cryptoKeys\/[^/]+$/, '')
  const { protectionLevel, algorithm } = templateOf(await kms({ method: 'GET', suffix: cryptoKey }))
  if (algorithm !== ALGORITHMS[material.curve])
    throw new RemoteFault('refused', `is of the algorithm ${algorithm}, not ${ALGORITHMS[material.curve]}`)

  const created = await kms({
    method: 'POST',
    suffix: `${keyRing}/importJobs?importJobId=relayer-${randomBytes(8).toString('hex')}`,
    body: { importMethod: METHOD, protectionLevel },
  })
  const importJob = textIn(created, 'name')
  const job = await settled(kms, importJob, 'PENDING_GENERATION')
  const wrappingKey = readWrappingKey(textIn(objectIn(job, 'publicKey'), 'pem'))
  const imported = await kms({
    method: 'POST',
    suffix: `${cryptoKey}/cryptoKeyVersions:import`,
    body: { algorithm, importJob, wrappedKey: wrapWithRsaAes(material, wrappingKey).toString('base64') },
  })
  await checkVersion(kms, { made: textIn(imported, 'name'), configured: version })
}

function templateOf(cryptoKey: JsonObject): { protectionLevel: string; algorithm: string } {
  const template = objectIn(cryptoKey, 'versionTemplate')
  return { protectionLevel: textIn(template, 'protectionLevel'), algorithm: textIn(template, 'algorithm') }
}

async function checkVersion(
  kms: KmsClient,
  { made, configured }: { readonly made: string; readonly configured: string },
): Promise<void> {
  const { state } = await settled(kms, made, 'PENDING_IMPORT')
  if (state !== 'ENABLED')
    throw new RemoteFault('refused', `was not imported: ${made} is in the state ${state}`)
  const number = /\d+$/.exec(made)?.[0]
  if (made !== configured)
    throw new RemoteFault(
      'refused',
      `was imported as version ${number}: name it in the configuration, "key_version": ${number}, and run this command again`,
    )
}

/** Waits until a resource has left a state. */
async function settled(kms: KmsClient, name: string, state: string): Promise<JsonObject> {
  const started = systemClock.monotonic()
  for (;;) {
    const seen = await kms({ method: 'GET', suffix: name })
    if (seen.state !== state) return seen
    if (systemClock.monotonic() - started > GIVE_UP_MS)
      throw new RemoteFault('unavailable', `stays in the state ${state}`)
    await systemClock.sleep(LOOK_EVERY_MS)
  }
}
