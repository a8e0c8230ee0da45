import { randomBytes } from 'node:crypto'
import { type FieldType, httpUrl, text, whole } from '../../lib/fields.ts'
import type { HttpClient, PostAnswer } from '../../lib/http/http-client.ts'
import { systemClock } from '../../lib/time.ts'
import type { ConnectContext, RemoteProvider, SignerFields } from '../providers/provider.ts'
import { type AccessTokens, createAccessTokens } from '../remote/access-token.ts'
import { answered, type JsonObject, objectIn, readJsonObject, textIn } from '../remote/answers.ts'
import { RemoteFault, type RemoteKey, readSpki, type SignRequest } from '../remote/remote-key.ts'
import { type KeyMaterial, readWrappingKey, wrapWithRsaAes } from '../remote/wrap-key.ts'
import { libsecp256k1 } from '../secp256k1.ts'
import {
  connectDefaultCredentials,
  logInAsServiceAccount,
  type ServiceAccount,
} from './google-cloud-login.ts'

interface GoogleCloudKmsConfig {
  /** If absent, the application default credentials. */
  readonly serviceAccount?: ServiceAccount
  readonly key: KeyVersion
  /** The domain of the services, googleapis.com outside of Google's sovereign clouds. */
  readonly universeDomain: string
}

const DEFAULT_UNIVERSE = 'googleapis.com'
const DEFAULT_TOKEN_URI = 'https://oauth2.googleapis.com/token'
const DEFAULT_LOCATION = 'global'

/** The highest version: Google counts from 1, and numbers in names have 32 bits at most. */
const MAX_VERSION = 2 ** 31 - 1

/** The domain becomes part of a host name, so no other character is allowed. */
const domain: FieldType<string> = {
  expected: 'a domain such as googleapis.com',
  read: (value) =>
    typeof value === 'string' && /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(value) ? value : undefined,
  blank: '',
}

/** A version of a key of Google Cloud KMS, of the algorithm EC_SIGN_SECP256K1_SHA256 or EC_SIGN_ED25519. */
export const googleCloudKms: RemoteProvider<GoogleCloudKmsConfig> = {
  kind: 'remote',
  curves: ['secp256k1', 'ed25519'],
  read: (fields) => {
    const account = fields.findObject('service_account', readAccount)
    return {
      ...(account && { serviceAccount: account }),
      key: fields.object('key', (key) => readKey(key, account?.projectId)),
      universeDomain: account?.universeDomain ?? DEFAULT_UNIVERSE,
    }
  },
  show: ({ key }) => ({
    key: {
      project_id: key.projectId,
      location: key.location,
      key_ring_id: key.keyRingId,
      key_id: key.keyId,
      key_version: key.keyVersion,
    },
  }),
  connect: async (config, context) => {
    return connectGoogleCloudKms(
      config.key,
      await connectKms(toTarget(config), context, resourceName(config.key)),
    )
  },
  importKey: async (config, context, material) => {
    await importIntoGoogleCloud(
      { key: config.key, kms: await connectKms(toTarget(config), context) },
      material,
    )
  },
}

/** A key ring, and the credentials for it. */
export interface GoogleTarget {
  /** If absent, the application default credentials. */
  readonly serviceAccount?: ServiceAccount
  readonly ring: KeyRing
  /** Default: `googleapis.com`. */
  readonly universeDomain?: string
}

function toTarget({ key, ...rest }: GoogleCloudKmsConfig): GoogleTarget {
  return { ...rest, ring: key }
}

/** Creates a client of Cloud KMS, for paths below `/v1/` or below a resource. @throws MissingPackageError */
export async function connectKms(
  { serviceAccount, ring, universeDomain = DEFAULT_UNIVERSE }: GoogleTarget,
  context: ConnectContext,
  resource = '',
): Promise<KmsClient> {
  const url = `https://cloudkms.${universeDomain}/v1/${resource}`
  const tokens =
    serviceAccount === undefined
      ? { present: await connectDefaultCredentials(ring.projectId), drop: async () => undefined }
      : createAccessTokens(() => logInAsServiceAccount(serviceAccount, context))
  return createKmsClient({ ...context, tokens, url })
}

interface AccountFields extends ServiceAccount {
  readonly projectId: string
  readonly universeDomain: string
}

/** Reads a key file of Google. Its other fields have no use here. */
export function readAccount(fields: SignerFields): AccountFields {
  for (const unused of [
    'client_id',
    'auth_uri',
    'auth_provider_x509_cert_url',
    'client_x509_cert_url',
    'type',
  ])
    fields.find(unused, text)
  return {
    projectId: fields.get('project_id', text),
    privateKeyId: fields.secret('private_key_id'),
    privateKey: fields.secret('private_key'),
    clientEmail: fields.secret('client_email'),
    tokenUri: fields.find('token_uri', httpUrl) ?? DEFAULT_TOKEN_URI,
    universeDomain: fields.find('universe_domain', domain) ?? DEFAULT_UNIVERSE,
  }
}

/** Reads the names of a key ring. */
export function readKeyRing(fields: SignerFields, projectOfAccount: string | undefined): KeyRing {
  return {
    projectId: fields.find('project_id', text) ?? projectOfAccount ?? fields.get('project_id', text),
    location: fields.find('location', text) ?? DEFAULT_LOCATION,
    keyRingId: fields.get('key_ring_id', text),
  }
}

function readKey(fields: SignerFields, projectOfAccount: string | undefined): KeyVersion {
  return {
    ...readKeyRing(fields, projectOfAccount),
    keyId: fields.get('key_id', text),
    keyVersion: fields.find('key_version', whole(1, MAX_VERSION)) ?? 1,
  }
}

/** Names a key ring. */
interface KeyRing {
  readonly projectId: string
  readonly location: string
  readonly keyRingId: string
}

/** Names one version of a key. */
interface KeyVersion extends KeyRing {
  readonly keyId: string
  readonly keyVersion: number
}

/** Returns the resource name of a key ring, in which every part is one segment. */
export function keyRingName({ projectId, location, keyRingId }: KeyRing): string {
  const [project, region, ring] = [projectId, location, keyRingId].map(encodeURIComponent)
  return `projects/${project}/locations/${region}/keyRings/${ring}`
}

/** Returns the resource name of a version. */
export function resourceName({ keyId, keyVersion, ...ring }: KeyVersion): string {
  return `${keyRingName(ring)}/cryptoKeys/${encodeURIComponent(keyId)}/cryptoKeyVersions/${keyVersion}`
}

/**
 * Connects to one version of a key of Cloud KMS. Checksums protect requests and responses, as Google
 * recommends to its clients.
 */
function connectGoogleCloudKms(key: KeyVersion, kms: KmsClient): RemoteKey {
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

/**
 * A key of secp256k1 signs a digest, which Cloud KMS calls SHA-256 and does not compute itself; one of
 * Ed25519 signs the message.
 */
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

/** @throws RemoteFault if the content was damaged on its way */
function compare(content: Uint8Array, checksum: unknown): void {
  if (String(checksum) !== String(crc32c(content)))
    throw new RemoteFault('unavailable', 'returned a response with a wrong checksum')
}

/** Google writes ECDSA signatures in DER. */
function fromDer(signature: Uint8Array): Uint8Array {
  try {
    return libsecp256k1().signatureImport(signature)
  } catch (cause) {
    throw new RemoteFault('unavailable', 'returned an unreadable signature', { cause })
  }
}

/** The reversed polynomial of CRC-32C (Castagnoli). */
const POLYNOMIAL = 0x82f63b78

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit += 1) value = (value >>> 1) ^ (value & 1 ? POLYNOMIAL : 0)
  return value
})

/**
 * Computes the checksum that Cloud KMS requires (RFC 3720, section 12.1). Node.js only has CRC-32, with
 * another polynomial.
 */
export function crc32c(bytes: Uint8Array): number {
  let value = 0xffffffff
  for (const byte of bytes) value = (value >>> 8) ^ (TABLE[(value ^ byte) & 0xff] ?? 0)
  return (value ^ 0xffffffff) >>> 0
}

/** The algorithms of keys, by curve. */
export const ALGORITHMS = { secp256k1: 'EC_SIGN_SECP256K1_SHA256', ed25519: 'EC_SIGN_ED25519' } as const

const METHOD = 'RSA_OAEP_3072_SHA256_AES_256'

/**
 * Google makes the wrapping key of an import job, and checks imported material, in a few seconds. Pause and
 * limit are in ms.
 */
const LOOK_EVERY_MS = 500
const GIVE_UP_MS = 120_000

interface ImportOptions {
  readonly key: KeyVersion
  /** Calls paths below `/v1/`. */
  readonly kms: KmsClient
}

/**
 * Imports a private key as the next version of a key of Cloud KMS, by a new import job. The job expires after
 * three days.
 * @throws RemoteFault
 */
async function importIntoGoogleCloud(options: ImportOptions, material: KeyMaterial): Promise<void> {
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

/** A request. */
interface KmsRequest {
  readonly method: 'GET' | 'POST'
  /** The part of the url after that of the client. */
  readonly suffix: string
  readonly body?: object
}

/** Calls Cloud KMS, logged in. */
export type KmsClient = (request: KmsRequest) => Promise<JsonObject>

interface KmsClientDeps {
  readonly http: HttpClient
  readonly tokens: AccessTokens
  /** The limit of one request, in ms. */
  readonly timeoutMs: number
  /** The beginning of all urls. */
  readonly url: string
}

/** Creates a client of the REST interface. A token that Google does not accept is replaced once. */
function createKmsClient({ http, tokens, timeoutMs, url }: KmsClientDeps): KmsClient {
  function send({ method, suffix, body }: KmsRequest, token: string): Promise<PostAnswer> {
    return answered(
      http.post({
        url: `${url}${suffix}`,
        method,
        headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
        body: body ? JSON.stringify(body) : '',
        timeoutMs,
      }),
    )
  }

  return async (request) => {
    const token = await tokens.present()
    const first = await send(request, token)
    if (first.status !== 401) return resultOf(first)
    await tokens.drop(token)
    return resultOf(await send(request, await tokens.present()))
  }
}

function resultOf(answer: PostAnswer): JsonObject {
  if (answer.status !== 200) throw failureOf(answer)
  return readJsonObject(answer.body)
}

/**
 * The sentences complete "Google Cloud KMS key … ". They name Google's status, so that its documentation can
 * be found.
 */
const REFUSED: Readonly<Record<string, string>> = {
  ALREADY_EXISTS: 'exists already',
  FAILED_PRECONDITION:
    'cannot be used in its state: its version may be disabled or destroyed, or not generated yet',
  INVALID_ARGUMENT: 'cannot sign in this way',
  NOT_FOUND: 'does not exist',
  PERMISSION_DENIED:
    'is denied: allow cloudkms.cryptoKeyVersions.viewPublicKey and cloudkms.cryptoKeyVersions.useToSign on it (the role Cloud KMS CryptoKey Signer/Verifier has both)',
  UNAUTHENTICATED: 'cannot be used: Google does not accept the credentials',
}

/**
 * Translates an answer that is not a success. Google's message can name users, so only the status is passed
 * on.
 */
function failureOf({ status, body }: PostAnswer): RemoteFault {
  if (status === 429) return new RemoteFault('throttled', 'gets too many calls (status 429)')
  if (status >= 500) return new RemoteFault('unavailable', `cannot be reached (status ${status})`)
  const error = objectIn(readJsonObject(body), 'error')
  const name = textIn(error, 'status')
  // Google found that the request was damaged on its way, which says nothing about the key.
  if (/crc32c|checksum/i.test(textIn(error, 'message')))
    return new RemoteFault('unavailable', 'got a damaged request')
  const refusal = REFUSED[name]
  if (refusal !== undefined) return new RemoteFault('refused', `${refusal} (${name})`)
  return new RemoteFault('unavailable', `returned no usable response (status ${status})`)
}
