import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Fields } from '../shared/fields.ts'
import { isRecord, type PluginCall } from '../shared/host.ts'
import { NO_KEY } from '../shared/windows.ts'
import { KoraError } from './errors.ts'

/** What callers must show. */
export interface Protection {
  /**
   * The environment variable with the keys of callers, `name:secret` separated by commas; without it, the
   * plugin asks for none.
   */
  readonly apiKeysEnv: string | undefined
  /** Callers sign each request with HMAC-SHA256. */
  readonly hmac: Hmac | undefined
  /** Some methods need a token of reCAPTCHA. */
  readonly recaptcha: Recaptcha | undefined
}

interface Hmac {
  /** The environment variable with the secrets, in the same form as the keys. */
  readonly secretsEnv: string
  /** The time of a request may be so far from now, in both directions. */
  readonly maxAgeSeconds: number
}

interface Recaptcha {
  /** The environment variable with the secret of the site. */
  readonly secretEnv: string
  /** A lower score is refused. 0 is a program, 1 a person. */
  readonly threshold: number
  readonly methods: ReadonlySet<string>
  /**
   * The environment variable with the address that checks tokens; Google's if absent. Callers can change the
   * configuration of a plugin, and the secret goes there.
   */
  readonly verifyUrlEnv: string | undefined
}

const DEFAULT_MAX_AGE_SECONDS = 300
const DEFAULT_THRESHOLD = 0.5
const DEFAULT_PROTECTED = ['signTransaction', 'signAndSendTransaction', 'signBundle', 'signAndSendBundle']
const VERIFY_URL = 'https://www.google.com/recaptcha/api/siteverify'

/** Reads the fields about callers. */
export function readProtection(fields: Fields, methods: readonly string[]): Protection {
  const hmac = fields.fields('hmac')
  const recaptcha = fields.fields('recaptcha')
  const protection = {
    apiKeysEnv: fields.optionalText('api_keys_env'),
    hmac: hmac && {
      secretsEnv: hmac.text('secrets_env', ENV_NAME),
      maxAgeSeconds: hmac.integer('max_age_seconds', 1, 3_600) ?? DEFAULT_MAX_AGE_SECONDS,
    },
    recaptcha: recaptcha && {
      secretEnv: recaptcha.text('secret_env', ENV_NAME),
      threshold: recaptcha.number('score_threshold', 0, 1) ?? DEFAULT_THRESHOLD,
      methods: new Set((recaptcha.optionalList('methods') ?? DEFAULT_PROTECTED).map(String)),
      verifyUrlEnv: recaptcha.optionalText('verify_url_env'),
    },
  }
  hmac?.refuseOthers()
  recaptcha?.refuseOthers()
  const unknown = [...(protection.recaptcha?.methods ?? [])].find((name) => !methods.includes(name))
  if (unknown !== undefined) throw new Error(`config.recaptcha.methods: ${unknown} is no method.`)
  return protection
}

/** The name of an environment variable. */
export const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/

type Request = Pick<PluginCall, 'headers' | 'body'>

/**
 * Names the caller: by the API key of the service, or by what the plugin asks for. Where it asks for a key
 * and a signature, both must be of the same caller.
 * @throws KoraError if the caller does not have it
 */
export function callerOf(request: Request, { apiKeysEnv, hmac }: Protection, now: number): string {
  const { headers } = request
  const [ofService] = headers['x-relayer-api-key-id'] ?? []
  if (ofService !== undefined && ofService !== NO_KEY) return ofService
  const names = [
    ...(apiKeysEnv === undefined ? [] : [keyHolder(request, apiKeysEnv)]),
    ...(hmac === undefined ? [] : [signerOf(request, hmac, now)]),
  ]
  const [name = ''] = names
  if (names.some((each) => each !== name))
    throw new KoraError('Unauthorized', 'The key and the signature are of two callers.')
  return name
}

function keyHolder({ headers }: Request, env: string): string {
  const [given = ''] = headers['x-api-key'] ?? []
  const known = readSecrets(env).find(({ secret }) => isSame(secret, given))
  if (known !== undefined) return known.name
  throw new KoraError('Unauthorized', 'The header x-api-key is missing or wrong.')
}

/**
 * Finds whose secret signed the time and the body as it arrived. A signature that is sent again in time is
 * accepted again: what it can ask for is done once, because the message of a transaction names it.
 */
function signerOf({ headers, body }: Request, { secretsEnv, maxAgeSeconds }: Hmac, now: number): string {
  if (body === undefined)
    throw new KoraError('ConfigError', 'Signed requests need "raw_body": true in the entry of the plugin.')
  const [time = ''] = headers['x-timestamp'] ?? []
  const [given = ''] = headers['x-hmac-signature'] ?? []
  const isTimely = /^\d{1,12}$/.test(time) && Math.abs(now / 1000 - Number(time)) <= maxAgeSeconds
  if (!isTimely)
    throw new KoraError(
      'Unauthorized',
      `The header x-timestamp is missing, or more than ${maxAgeSeconds} seconds from now.`,
    )
  const signer = readSecrets(secretsEnv).find(({ secret }) =>
    isSame(createHmac('sha256', secret).update(`${time}${body}`).digest('hex'), given.toLowerCase()),
  )
  if (signer !== undefined) return signer.name
  throw new KoraError('Unauthorized', 'The header x-hmac-signature is missing or wrong.')
}

function readSecrets(env: string) {
  const secrets = (process.env[env] ?? '').split(',').map((entry) => {
    const [, name = '', secret = ''] = /^\s*([A-Za-z0-9._-]{1,60}):(\S{16,})\s*$/.exec(entry) ?? []
    return { name, secret }
  })
  if (secrets.every(({ secret }) => secret !== '')) return secrets
  throw new KoraError('ConfigError', `The variable ${env} must have name:secret, separated by commas.`)
}

/** Compares without telling by its duration how much is right. */
function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest())
  return a !== undefined && b !== undefined && timingSafeEqual(a, b)
}

/** A check that takes longer has failed, in ms. */
const VERIFY_MS = 5_000

/** The longest answer of a check, in characters, and the longest token that is sent there. */
const MAX_ANSWER = 16_384
const MAX_TOKEN = 8_192

/**
 * Checks the token of a person for the methods that need one. Each request needs its own: it counts once.
 * @throws KoraError also without an answer
 */
export async function requirePerson(
  method: string,
  { headers }: Request,
  { recaptcha }: Protection,
): Promise<void> {
  if (recaptcha === undefined || !recaptcha.methods.has(method)) return
  const [token = ''] = headers['x-recaptcha-token'] ?? []
  if (token === '' || token.length > MAX_TOKEN) throw refused('The header x-recaptcha-token is missing.')
  const secret = process.env[recaptcha.secretEnv]
  if (!secret) throw new KoraError('ConfigError', `The variable ${recaptcha.secretEnv} is empty.`)
  const { verifyUrlEnv: env } = recaptcha
  const url = env === undefined ? VERIFY_URL : process.env[env]
  if (url === undefined) throw new KoraError('ConfigError', `The variable ${env} is empty.`)
  const answer = await verify(url, { secret, response: token })
  if (answer?.success !== true) throw refused('The token of reCAPTCHA is not valid, or was used before.')
  const { score } = answer
  if (typeof score !== 'number' || !(score >= recaptcha.threshold))
    throw refused('The score of reCAPTCHA is too low.')
}

async function verify(url: string, fields: Readonly<Record<string, string>>) {
  try {
    const response = await fetch(url, {
      method: 'POST',
      body: new URLSearchParams(fields),
      redirect: 'error',
      signal: AbortSignal.timeout(VERIFY_MS),
    })
    const text = await response.text()
    const answer: unknown = response.ok && text.length <= MAX_ANSWER ? JSON.parse(text) : undefined
    return isRecord(answer) ? answer : undefined
  } catch {
    throw refused('The token of reCAPTCHA cannot be checked now.')
  }
}

function refused(message: string): KoraError {
  return new KoraError('RecaptchaError', message)
}
