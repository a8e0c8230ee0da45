import { createPrivateKey, type KeyObject } from 'node:crypto'
import type { HttpClient } from '../../lib/http/http-client.ts'
import type { Secret } from '../../security/secret.ts'
import { signJwt } from '../jwt/sign-jwt.ts'
import type { AccessToken } from '../remote/access-token.ts'
import { answered } from '../remote/answered.ts'
import { readJsonObject, textIn } from '../remote/json-object.ts'
import { loginFailure } from '../remote/login-failure.ts'
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
export const SCOPE = 'https://www.googleapis.com/auth/cloudkms'

/** Google accepts assertions of an hour at most, in seconds. */
const ASSERTION_LIFE_S = 3600

const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

const REFUSED = {
  refused: 'the login of the service account failed',
  hint: 'it or its key may be deleted or disabled, or the clock of this machine wrong',
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
  if (text === '') throw new RemoteFault('unavailable', 'gave no token at the login')
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
    'cannot be asked: private_key of the service account is not an RSA key in PEM',
  )
}
