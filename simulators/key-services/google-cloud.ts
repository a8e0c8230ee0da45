import { generateKeyPairSync, type KeyObject, type KeyPairKeyObjectResult, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import { jwtVerify } from 'jose'
import { crc32c } from '../../src/signers/key-services/google-cloud-kms.ts'
import {
  type HeldEd25519,
  type HeldSecp256k1,
  holdEd25519,
  holdSecp256k1,
  toDer,
  unwrapPrivateKey,
} from './held-keys.ts'
import {
  type HttpService,
  type ServiceAnswer,
  type ServiceRequest,
  startHttpService,
} from './http-service.ts'

/** A method of a discovery document of Google. */
interface Method {
  readonly httpMethod: string
  /** The path with `{+name}` for the resource. */
  readonly path: string
  readonly parameters: Readonly<Record<string, { readonly location: string; readonly pattern?: string }>>
  readonly request?: string
  readonly response: string
}

/** The part of a discovery document that the service uses, as Google publishes it, without the descriptions for people. */
interface DiscoveryDocument {
  readonly methods: Readonly<Record<string, Method>>
  readonly schemas: Readonly<Record<string, object>>
}

/** The checks of a published description. Each returns the contradiction, or undefined. */
export interface DiscoveryChecks {
  request(request: ServiceRequest): string | undefined
  answer(request: ServiceRequest, answer: ServiceAnswer): string | undefined
}

/** Reads a document, and compiles the checks of requests and answers of its methods. */
function createDiscoveryChecks(file: URL): DiscoveryChecks {
  const { methods, schemas }: DiscoveryDocument = JSON.parse(readFileSync(file, 'utf8'))
  const ajv = new Ajv({ strict: false, validateFormats: false, schemas: Object.values(schemas).map(closed) })
  const find = ({ method, path }: ServiceRequest) =>
    Object.values(methods).find(({ httpMethod, ...one }) => httpMethod === method && fits(one, path))
  return {
    request: (request) => {
      const method = find(request)
      if (method === undefined) return `${request.method} ${request.path} is no method of the document`
      const unknown = [...request.query.keys()].find((name) => method.parameters[name]?.location !== 'query')
      if (unknown !== undefined) return `the method has no parameter ${unknown}`
      if (method.request === undefined) return request.body === '' ? undefined : 'the method has no body'
      return problemOf(ajv.getSchema(method.request), JSON.parse(request.body))
    },
    answer: (request, { body }) => problemOf(ajv.getSchema(find(request)?.response ?? ''), body),
  }
}

/** Google refuses fields that it does not know. `id` and `$ref` of a document are names of schemas. */
function closed(schema: object): object {
  const text = JSON.stringify(schema, (_key, value) =>
    value?.properties === undefined ? value : { ...value, additionalProperties: false },
  )
  const { id, ...rest } = JSON.parse(text)
  return { $id: id, ...rest }
}

function fits({ path, parameters }: Pick<Method, 'path' | 'parameters'>, wanted: string): boolean {
  const [, name = ''] = /^v1\/\{\+(\w+)\}/.exec(path) ?? []
  const suffix = path.slice(`v1/{+${name}}`.length)
  const resource = parameters[name]?.pattern?.replace(/^\^|\$$/g, '') ?? ''
  const escaped = suffix.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&')
  return new RegExp(`^v1/${resource}${escaped}$`).test(decodeURIComponent(wanted.slice(1)))
}

function problemOf(validate: ValidateFunction | undefined, value: unknown): string | undefined {
  if (validate === undefined) throw new Error('the document does not describe this')
  if (validate(value)) return undefined
  const [first] = validate.errors ?? []
  return `${first?.instancePath} ${first?.message} ${JSON.stringify(first?.params)}`
}

/** Cloud KMS v1 as Google publishes it (revision 20260917, from google-api-python-client 2.202.0), as far as the service uses it. */
const DESCRIPTION = createDiscoveryChecks(new URL('cloudkms-v1.discovery.json', import.meta.url))

/** The service account that the server knows. */
export const EMAIL = 'relayer@payments.iam.gserviceaccount.com'
export const TOKEN_URI = 'https://oauth2.googleapis.com/token'
const KEY_ID = '0123456789abcdef'
const SCOPE = 'https://www.googleapis.com/auth/cloudkms'

/** The token of the metadata server, where a machine of Google has its identity. */
const METADATA_TOKEN = 'ya29.metadata'

/** The subject token of a workload outside of Google, and the token that it gets for it. */
export const SUBJECT_TOKEN = 'token-of-the-cluster'
const FEDERATED_TOKEN = 'ya29.federated'

/** The parts of Google Cloud that the service asks, by the discovery document of Cloud KMS v1 and Google's pages on OAuth. */
export interface GoogleCloud extends HttpService {
  /** The fields of the key file of the account that the server knows. */
  readonly account: { readonly privateKey: string; readonly privateKeyId: string }
  readonly logins: () => number
  /** Ends all tokens of the service account. */
  revoke(): void
  /** Disables or enables all keys. */
  setEnabled(isEnabled: boolean): void
  /** Lets the checksum of the next answers be wrong. */
  damage(times: number): void
  /** The number of keys that were created. */
  readonly created: () => number
}

interface GoogleCloudOptions {
  /** The resource names of versions, with their secrets. */
  readonly secp256k1: Readonly<Record<string, string>>
  readonly ed25519: Readonly<Record<string, string>>
  /** The resource names of keys without a version, with their algorithm. */
  readonly empty?: Readonly<Record<string, string>>
}

const failed = (status: number, name: string, message = 'as Google says it'): ServiceAnswer => ({
  status,
  body: { error: { code: status, message, status: name } },
})

/** Starts the server. */
export async function startGoogleCloud(options: GoogleCloudOptions): Promise<GoogleCloud> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const tokens = new Set<string>()
  let [logins, isEnabled, damaged] = [0, true, 0]
  const keys = new Map<string, Held>([
    ...Object.entries(options.secp256k1).map(([name, secret]) => [name, secp256k1(secret)] as const),
    ...Object.entries(options.ed25519).map(([name, seed]) => [name, ed25519(seed)] as const),
  ])

  async function logIn(body: string): Promise<ServiceAnswer> {
    if (!(await isAssertion(new URLSearchParams(body), publicKey)))
      return { status: 400, body: { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' } }
    logins += 1
    const token = `ya29.${logins}`
    tokens.add(token)
    return { status: 200, body: { access_token: token, expires_in: 3599, token_type: 'Bearer' } }
  }

  /** Writes a checksum, wrong for as many answers as wanted. */
  function checksumOf(content: Uint8Array): string {
    damaged -= 1
    return String(damaged >= 0 ? 1 : crc32c(content))
  }

  const jobs = new Map<string, { readonly wrapping: KeyPairKeyObjectResult; looks: number }>()
  const templates = new Map(Object.entries(options.empty ?? {}))

  /** Created keys, and the looks at their versions: the first one sees a version that is still generated. */
  const created = new Map<string, { readonly template: object; looks: number }>()

  /** Creates as the discovery document describes `CryptoKey`. */
  function createKey(name: string, body: string): ServiceAnswer {
    const { purpose, versionTemplate, labels, ...unknown } = JSON.parse(body)
    const { algorithm, protectionLevel } = versionTemplate
    const isKnown =
      purpose === 'ASYMMETRIC_SIGN' && (algorithm === 'EC_SIGN_ED25519' || protectionLevel === 'HSM')
    const isLabelled = Object.values(labels ?? {}).every((one) => /^[a-z0-9_-]{0,63}$/.test(String(one)))
    const [id = ''] = name.split('/').slice(-1)
    if (!isKnown || !isLabelled || Object.keys(unknown).length > 0 || !/^[A-Za-z0-9_-]{1,63}$/.test(id))
      return failed(400, 'INVALID_ARGUMENT')
    if (created.has(name)) return failed(409, 'ALREADY_EXISTS')
    const secret = randomBytes(32).toString('hex')
    created.set(name, { template: versionTemplate, looks: 0 })
    keys.set(
      `${name}/cryptoKeyVersions/1`,
      algorithm === 'EC_SIGN_ED25519' ? ed25519(secret) : secp256k1(secret),
    )
    return { status: 200, body: { name, purpose, versionTemplate, labels } }
  }

  /** Returns true if the version is not generated yet. */
  function isPending(version: string): boolean {
    const key = created.get(version.replace(/\/cryptoKeyVersions\/1$/, ''))
    if (key === undefined) return false
    key.looks += 1
    return key.looks < 2
  }

  function askCreated({ method, path, query, body }: ServiceRequest): ServiceAnswer | undefined {
    const name = decodeURIComponent(path.slice('/v1/'.length))
    if (method === 'POST' && name.endsWith('/cryptoKeys'))
      return createKey(`${name}/${query.get('cryptoKeyId')}`, body)
    const key = created.get(name)
    if (method === 'GET' && key) return { status: 200, body: { name, versionTemplate: key.template } }
    return undefined
  }

  /** Imports as the discovery document describes `ImportJob` and `ImportCryptoKeyVersionRequest`. */
  function askImport({ method, path, query, body }: ServiceRequest): ServiceAnswer | undefined {
    const name = decodeURIComponent(path.slice('/v1/'.length))
    const template = { algorithm: templates.get(name), protectionLevel: 'HSM' }
    if (method === 'GET' && template.algorithm) return { status: 200, body: { versionTemplate: template } }
    if (method === 'POST' && name.endsWith('/importJobs'))
      return createJob(`${name}/${query.get('importJobId')}`, body)
    if (method === 'GET' && jobs.has(name)) return showJob(name)
    if (method === 'GET' && keys.has(name)) return { status: 200, body: { name, state: 'ENABLED' } }
    if (method !== 'POST' || !name.endsWith('/cryptoKeyVersions:import')) return undefined
    return importVersion(name.replace(/:import$/, ''), JSON.parse(body))
  }

  function createJob(name: string, body: string): ServiceAnswer {
    const { importMethod, protectionLevel, ...unknown } = JSON.parse(body)
    const isKnown = importMethod === 'RSA_OAEP_3072_SHA256_AES_256' && protectionLevel === 'HSM'
    if (!isKnown || Object.keys(unknown).length > 0) return failed(400, 'INVALID_ARGUMENT')
    jobs.set(name, { wrapping: generateKeyPairSync('rsa', { modulusLength: 3072 }), looks: 0 })
    return { status: 200, body: { name, state: 'PENDING_GENERATION' } }
  }

  /** A job has its wrapping key at the second look. */
  function showJob(name: string): ServiceAnswer {
    const job = jobs.get(name)
    if (job === undefined) return failed(404, 'NOT_FOUND')
    job.looks += 1
    if (job.looks < 2) return { status: 200, body: { name, state: 'PENDING_GENERATION' } }
    const pem = job.wrapping.publicKey.export({ format: 'pem', type: 'spki' })
    return { status: 200, body: { name, state: 'ACTIVE', publicKey: { pem } } }
  }

  function importVersion(parent: string, body: Record<string, unknown>): ServiceAnswer {
    const { algorithm, importJob, wrappedKey, ...unknown } = body
    const job = jobs.get(String(importJob))
    const isKnown = algorithm === templates.get(parent.replace(/\/cryptoKeyVersions$/, ''))
    if (job === undefined || !isKnown || Object.keys(unknown).length > 0)
      return failed(400, 'INVALID_ARGUMENT')
    const key = unwrapPrivateKey(Buffer.from(String(wrappedKey), 'base64'), job.wrapping.privateKey)
    const secret = Buffer.from(key.export({ format: 'jwk' }).d ?? '', 'base64url').toString('hex')
    const isEd25519 = key.asymmetricKeyType === 'ed25519'
    if (isEd25519 !== (algorithm === 'EC_SIGN_ED25519')) return failed(400, 'INVALID_ARGUMENT')
    const name = `${parent}/1`
    keys.set(name, isEd25519 ? ed25519(secret) : secp256k1(secret))
    return { status: 200, body: { name, state: 'PENDING_IMPORT' } }
  }

  function askKey({ method, path, body }: ServiceRequest): ServiceAnswer {
    const [, name = '', verb = ''] =
      /^\/v1\/(.+\/cryptoKeyVersions\/\d+)(\/publicKey|:asymmetricSign)$/.exec(path) ?? []
    const key = keys.get(decodeURIComponent(name))
    if (key === undefined) return failed(404, 'NOT_FOUND')
    if (!isEnabled || isPending(decodeURIComponent(name))) return failed(400, 'FAILED_PRECONDITION')
    if (method === 'GET' && verb === '/publicKey') {
      const pemCrc32c = checksumOf(Buffer.from(key.pem))
      return { status: 200, body: { pem: key.pem, algorithm: key.algorithm, pemCrc32c, name } }
    }
    if (method !== 'POST' || verb !== ':asymmetricSign') return failed(404, 'NOT_FOUND')
    return signWith(key, { name, body: JSON.parse(body), checksumOf })
  }

  const service = await startHttpService((request) => {
    const found = identityOf(request)
    if (found !== undefined) return found
    if (request.method === 'POST' && request.path === '/token') return logIn(request.body)
    const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
    if (!tokens.has(bearer) && bearer !== METADATA_TOKEN && bearer !== FEDERATED_TOKEN)
      return failed(401, 'UNAUTHENTICATED')
    const problem = DESCRIPTION.request(request)
    if (problem !== undefined) return failed(400, 'INVALID_ARGUMENT', problem)
    const answer = askCreated(request) ?? askImport(request) ?? askKey(request)
    const mistake = answer.status === 200 ? DESCRIPTION.answer(request, answer) : undefined
    if (mistake !== undefined) throw new Error(`the server answers otherwise than Google: ${mistake}`)
    return answer
  })
  return {
    ...service,
    account: {
      privateKey: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
      privateKeyId: KEY_ID,
    },
    logins: () => logins,
    created: () => created.size,
    revoke: () => tokens.clear(),
    setEnabled: (wanted) => {
      isEnabled = wanted
    },
    damage: (times) => {
      damaged = times
    },
  }
}

interface Held {
  readonly pem: string
  readonly algorithm: string
  /** The field of the content in a request, and of its checksum. */
  readonly field: 'digest' | 'data'
  readonly sign: (content: Buffer) => Buffer
}

const pemOf = ({ publicKey }: HeldSecp256k1 | HeldEd25519) =>
  publicKey.export({ format: 'pem', type: 'spki' }).toString()

function secp256k1(secret: string): Held {
  const key = holdSecp256k1(secret)
  return {
    pem: pemOf(key),
    algorithm: 'EC_SIGN_SECP256K1_SHA256',
    field: 'digest',
    sign: (digest) => toDer(key.sign(digest)),
  }
}

function ed25519(seed: string): Held {
  const key = holdEd25519(seed)
  return { pem: pemOf(key), algorithm: 'EC_SIGN_ED25519', field: 'data', sign: key.sign }
}

interface SignCall {
  readonly name: string
  readonly body: Record<string, unknown>
  readonly checksumOf: (content: Uint8Array) => string
}

/** Signs as `AsymmetricSignRequest` of the discovery document describes it: unknown fields and damaged content are refused. */
function signWith(key: Held, { name, body, checksumOf }: SignCall): ServiceAnswer {
  const { [key.field]: wrapped, [`${key.field}Crc32c`]: checksum, ...unknown } = body
  const text = key.field === 'digest' ? (wrapped as { sha256?: unknown } | undefined)?.sha256 : wrapped
  if (Object.keys(unknown).length > 0 || typeof text !== 'string' || typeof checksum !== 'string')
    return failed(400, 'INVALID_ARGUMENT')
  const content = Buffer.from(text, 'base64')
  if (checksum !== String(crc32c(content)))
    return failed(400, 'INVALID_ARGUMENT', 'The checksum does not match.')
  if (key.field === 'digest' && content.length !== 32) return failed(400, 'INVALID_ARGUMENT')
  const signature = key.sign(content)
  return {
    status: 200,
    body: {
      signature: signature.toString('base64'),
      signatureCrc32c: checksumOf(signature),
      [key.field === 'digest' ? 'verifiedDigestCrc32c' : 'verifiedDataCrc32c']: true,
      name,
      protectionLevel: 'HSM',
    },
  }
}

/** Checks the assertion of a service account (RFC 7523), as Google's page on service accounts asks for it. */
async function isAssertion(form: URLSearchParams, publicKey: KeyObject): Promise<boolean> {
  if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') return false
  try {
    const { payload, protectedHeader } = await jwtVerify(form.get('assertion') ?? '', publicKey, {
      algorithms: ['RS256'],
      issuer: EMAIL,
      audience: TOKEN_URI,
      maxTokenAge: '1 hour',
      requiredClaims: ['iat', 'exp'],
    })
    const life = Number(payload.exp) - Number(payload.iat)
    return payload.scope === SCOPE && protectedHeader.kid === KEY_ID && life <= 3600
  } catch {
    return false
  }
}

/** Answers as the metadata server of Google, and as its Security Token Service (RFC 8693). */
function identityOf({ method, path, query, headers, body }: ServiceRequest): ServiceAnswer | undefined {
  if (path.startsWith('/computeMetadata/v1/')) {
    if (headers['metadata-flavor'] !== 'Google') return failed(403, 'PERMISSION_DENIED')
    const isToken = path.endsWith('/instance/service-accounts/default/token')
    if (isToken && query.get('scopes') !== SCOPE) return failed(400, 'INVALID_ARGUMENT')
    return {
      status: 200,
      headers: { 'metadata-flavor': 'Google' },
      body: isToken ? { access_token: METADATA_TOKEN, expires_in: 3599, token_type: 'Bearer' } : {},
    }
  }
  if (method !== 'POST' || path !== '/sts') return undefined
  const form = new URLSearchParams(body)
  const isExchange = form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:token-exchange'
  if (!isExchange || form.get('subject_token') !== SUBJECT_TOKEN || form.get('scope') !== SCOPE)
    return { status: 400, body: { error: 'invalid_grant' } }
  const issued = { issued_token_type: 'urn:ietf:params:oauth:token-type:access_token', token_type: 'Bearer' }
  return { status: 200, body: { access_token: FEDERATED_TOKEN, expires_in: 3599, ...issued } }
}
