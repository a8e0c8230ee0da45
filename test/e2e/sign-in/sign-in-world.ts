import { freePort } from '../../support/free-port.ts'
import {
  CLIENT_ID,
  CLIENT_SECRET,
  type IdentityProvider,
  startIdentityProvider,
} from '../../support/identity-provider.ts'
import { type Service, type ServiceOptions, startService } from '../../support/service.ts'
import { openWebBrowser, type WebBrowser } from '../../support/web-browser.ts'

/** A service where people sign in with a real provider. */
export interface SignInWorld {
  readonly provider: IdentityProvider
  readonly service: Service
  /** The entry `sign_in`, for another process of the same service. */
  readonly settings: object
  /** A browser in which this user has signed in. */
  signedIn(subject: string): Promise<WebBrowser>
  stop(): Promise<void>
}

const ROLES = {
  viewers: 'viewer',
  operators: 'operator',
  approvers: 'approver',
  auditors: 'auditor',
  admins: 'admin',
  leads: ['operator', 'approver'],
}

/** Starts both. `settings` replaces fields of `sign_in`. */
export async function startSignInWorld(
  settings: object = {},
  options: Partial<ServiceOptions> = { rpcUrls: [], relayers: [] },
): Promise<SignInWorld> {
  const port = await freePort()
  const publicUrl = `http://127.0.0.1:${port}`
  const provider = await startIdentityProvider(publicUrl)
  for (const [subject, groups] of Object.entries(USERS))
    provider.users.set(subject, {
      name: `${subject} example`,
      email: `${subject}@example.com`,
      email_verified: true,
      groups,
    })
  const signIn = {
    name: 'Example',
    issuer: provider.issuer,
    client_id: CLIENT_ID,
    client_secret: { type: 'plain', value: CLIENT_SECRET },
    roles_claim: 'groups',
    roles: ROLES,
    ...settings,
  }
  const env = { ...options.env, APP_PORT: String(port), RELAYER_PUBLIC_URL: publicUrl }
  const service = await startService({ rpcUrls: [], ...options, env, signIn })
  return {
    provider,
    service,
    settings: signIn,
    signedIn: async (subject) => {
      provider.user = subject
      const browser = openWebBrowser(service.url)
      const { url, status, text } = await browser.visit(`${service.url}/auth/sign-in`)
      if (url.href !== `${service.url}/console`)
        throw new Error(`${subject} is at ${url} (${status}): ${text}`)
      return browser
    },
    stop: async () => {
      await service.stop()
      await provider.stop()
    },
  }
}

/** The groups of each user. */
const USERS = {
  ada: ['admins'],
  alan: ['admins'],
  amy: ['admins'],
  eve: ['admins'],
  vera: ['viewers', 'everyone'],
  otto: ['operators'],
  anna: ['approvers'],
  udo: ['auditors'],
  lena: ['leads'],
  nora: ['everyone'],
}
