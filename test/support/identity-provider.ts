import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import Provider from 'oidc-provider'

export const CLIENT_ID = 'relayer'
export const CLIENT_SECRET = 'a-client-secret-that-no-answer-shows'

/** A certified provider of OpenID Connect on this machine, whose users sign in by being named. */
export interface IdentityProvider {
  readonly issuer: string
  /** The claims of each user, by the subject. */
  readonly users: Map<string, Record<string, unknown>>
  /** The user who signs in next; without one, the provider shows a form that asks for the subject. */
  user: string | undefined
  /** The user refuses. */
  refuses: boolean
  /** Changes the answer of the token endpoint before it is sent. */
  tamper: ((tokens: Tokens) => Promise<Tokens> | Tokens) | undefined
  /** Signs claims with the key of the provider. */
  sign(claims: JWTPayload): Promise<string>
  /** The requests that arrived at each path. */
  readonly requests: readonly string[]
  stop(): Promise<void>
}

/** The answer of the token endpoint. */
export interface Tokens {
  readonly id_token: string
  readonly access_token: string
}

/** Starts it on a free port for a service at this origin. */
export async function startIdentityProvider(
  publicUrl: string,
  claims = STANDARD_CLAIMS,
): Promise<IdentityProvider> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const jwk = { ...(await exportJWK(privateKey)), kid: 'test', alg: 'RS256', use: 'sig' }
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const requests: string[] = []
  const world: IdentityProvider = {
    issuer,
    users: new Map(),
    user: undefined,
    refuses: false,
    tamper: undefined,
    sign: (payload) =>
      new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: 'test' }).sign(privateKey),
    requests,
    stop: () => close(server),
  }
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: [`${publicUrl}/auth/callback`],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    jwks: { keys: [jwk] },
    cookies: { keys: ['a key for the cookies of the provider'] },
    features: { devInteractions: { enabled: false } },
    claims,
    scopes: Object.keys(claims),
    // Claims are in the ID token, as operators of providers map them.
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600 },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, accountId) => ({
      accountId,
      claims: async () => ({ sub: accountId, ...world.users.get(accountId) }),
    }),
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({ clientId: CLIENT_ID, accountId: oidc.session?.accountId ?? '' })
      grant.addOIDCScope(Object.keys(claims).join(' '))
      await grant.save()
      return grant
    },
  })
  provider.use(async (context, next) => {
    requests.push(context.path)
    const [, uid] = /^\/interaction\/([\w-]+)$/.exec(context.path) ?? []
    if (uid === undefined) {
      await next()
      if (context.path === '/token' && context.status === 200 && world.tamper)
        context.body = await world.tamper(context.body as Tokens)
      return
    }
    const subject = world.user ?? new URLSearchParams(context.querystring).get('subject')
    if (subject === null) {
      context.body = FORM
      return
    }
    context.respond = false
    const result = world.refuses ? { error: 'access_denied' } : { login: { accountId: subject } }
    await provider.interactionFinished(context.req, context.res, result)
  })
  server.on('request', provider.callback())
  return world
}

const FORM = `<!doctype html><title>Provider</title>
<form><label>Subject <input name="subject"></label> <button>Continue</button></form>`

/** The claims of each scope. */
const STANDARD_CLAIMS: Readonly<Record<string, readonly string[]>> = {
  openid: ['sub', 'groups', 'realm_access', 'email_verified'],
  profile: ['name'],
  email: ['email'],
}

async function close(server: Server): Promise<void> {
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
}
