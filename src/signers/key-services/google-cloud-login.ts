import { createPrivateKey, type KeyObject } from 'node:crypto'
import type { HttpClient } from '../../lib/http/http-client.ts'
import type { Secret } from '../../security/secrets.ts'
import { loadPackage } from '../providers/provider.ts'
import { type AccessToken, signJwt } from '../remote/access-token.ts'
import { answered, loginFailure, readJsonObject, sanitisedCause, textIn } from '../remote/answers.ts'
import { RemoteFault } from '../remote/remote-key.ts'

/** The key file of a service account, as far as it is used. */
export interface ServiceAccount {
  readonly clientEmail: Secret
  readonly privateKeyId: Secret
  /** PEM. */
  readonly privateKey: Secret
  readonly tokenUri: string
}

interface LogInDeps {
  readonly http: HttpClient
  /** The limit of one request, in ms. */
  readonly timeoutMs: number
}

/** Cloud KMS alone. */
const SCOPE = 'https://www.googleapis.com/auth/cloudkms'

/** Google accepts assertions of an hour at most, in seconds. */
const ASSERTION_LIFE_S = 3600

const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

const REFUSED = {
  refused: 'the login of the service account failed',
  hint: 'it or its key may be deleted or disabled, or the clock of this machine may be wrong',
}

/** Exchanges an assertion that the account signed for an access token (RFC 7523). */
export async function logInAsServiceAccount(
  account: ServiceAccount,
  { http, timeoutMs }: LogInDeps,
): Promise<AccessToken> {
  const form = new URLSearchParams({ grant_type: GRANT, assertion: assertionOf(account) })
  const answer = await answered(
    http.post({
      url: account.tokenUri,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
      timeoutMs,
    }),
  )
  if (answer.status !== 200) throw loginFailure({ status: answer.status, ...REFUSED })
  const body = readJsonObject(answer.body)
  const text = textIn(body, 'access_token')
  if (text === '') throw new RemoteFault('unavailable', 'returned no token at the login')
  return { text, lifeMs: Number(body.expires_in ?? 0) * 1000 }
}

function assertionOf({ clientEmail, privateKeyId, privateKey, tokenUri }: ServiceAccount): string {
  const now = Math.floor(Date.now() / 1000)
  return signJwt(
    {
      header: { kid: privateKeyId.reveal() },
      claims: {
        iss: clientEmail.reveal(),
        scope: SCOPE,
        aud: tokenUri,
        iat: now,
        exp: now + ASSERTION_LIFE_S,
      },
    },
    readPrivateKey(privateKey),
  )
}

/** Variables of the environment often carry the line ends of the key file as `\n` in two characters. */
function readPrivateKey(privateKey: Secret): KeyObject {
  try {
    const key = createPrivateKey(privateKey.reveal().replaceAll('\\n', '\n'))
    if (key.asymmetricKeyType === 'rsa') return key
  } catch {
    // The parser's own message could quote the key.
  }
  throw new RemoteFault(
    'refused',
    'cannot be used: private_key of the service account is not an RSA key in PEM',
  )
}

/**
 * Returns the source of access tokens of the application default credentials: workload identity, the metadata
 * server, or the file that GOOGLE_APPLICATION_CREDENTIALS names. Google's library keeps the token and
 * replaces it before it expires. Without a project it would search for one, which takes seconds outside
 * Google Cloud.
 * @throws MissingPackageError
 */
export async function connectDefaultCredentials(projectId: string): Promise<() => Promise<string>> {
  const { GoogleAuth } = await loadPackage('google-auth-library', () => import('google-auth-library'))
  const auth = new GoogleAuth({ projectId, scopes: [SCOPE] })
  return async () => {
    const token = await auth.getAccessToken().catch((error: unknown) => {
      throw failureOf(error)
    })
    if (typeof token === 'string' && token !== '') return token
    throw new RemoteFault('unavailable', 'cannot be used: the default credentials returned no token')
  }
}

/** The library's messages can quote responses, so only the status is passed on. */
function failureOf(error: unknown): RemoteFault {
  const cause = sanitisedCause(error)
  const status = statusOf(error)
  if (status !== undefined && status >= 400)
    return loginFailure({ status, refused: 'the login by default credentials failed' }, { cause })
  if (/Could not load the default credentials/.test(String(error)))
    return new RemoteFault('refused', 'cannot be used: there are no default credentials of Google Cloud', {
      cause,
    })
  return new RemoteFault('unavailable', 'cannot be used: the default credentials returned no token', {
    cause,
  })
}

/** Errors of a request have the status of its answer in one of these places. */
function statusOf(error: unknown): number | undefined {
  const { status, response } = (error ?? {}) as {
    readonly status?: unknown
    readonly response?: { readonly status?: unknown }
  }
  const found = Number(status ?? response?.status)
  return Number.isInteger(found) ? found : undefined
}
