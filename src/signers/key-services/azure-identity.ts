import type { KeyClientOptions } from '@azure/keyvault-keys'
import type { HttpClient, PostAnswer } from '../../lib/http/http-client.ts'
import type { Secret } from '../../security/secrets.ts'
import { loadPackage } from '../providers/provider.ts'
import { answered, loginFailure, sanitisedCause } from '../remote/answers.ts'
import { RemoteFault } from '../remote/remote-key.ts'

/** The ways to log in to Microsoft Entra ID, with the fields of existing configuration files. */
export type AzureLogin =
  | {
      readonly authType: 'client_secret'
      readonly tenantId: string
      readonly clientId: string
      readonly clientSecret: Secret
    }
  /** `clientId` selects one of several identities of the machine. */
  | { readonly authType: 'managed_identity'; readonly clientId?: string }
  /** The library takes absent fields from the variables of the cluster. */
  | {
      readonly authType: 'workload_identity'
      readonly tenantId?: string
      readonly clientId?: string
      readonly tokenFilePath?: string
    }

/** The sentence completes "Azure Key Vault key … ". */
const NO_WORKLOAD_IDENTITY =
  'cannot be used: workload_identity needs tenant_id, client_id and federated_token_file, or the variables AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_FEDERATED_TOKEN_FILE that the cluster gives to the service'

/** Repetitions are the work of the room around this, so that limits and time-outs cover them. */
export const NO_RETRIES = { retryOptions: { maxRetries: 0 } } as const

/** Loads the library of credentials. @throws MissingPackageError */
export function loadIdentity() {
  return loadPackage('@azure/identity', () => import('@azure/identity'))
}

/**
 * Creates the credential.
 * @throws MissingPackageError
 * @throws RemoteFault for a workload identity that neither the configuration nor the cluster describes
 */
export async function createCredential(login: AzureLogin, httpClient: AzureTransport) {
  const { ClientSecretCredential, ManagedIdentityCredential, WorkloadIdentityCredential } =
    await loadIdentity()
  switch (login.authType) {
    case 'client_secret': {
      const options = { ...NO_RETRIES, httpClient, disableInstanceDiscovery: true }
      return new ClientSecretCredential(login.tenantId, login.clientId, login.clientSecret.reveal(), options)
    }
    case 'workload_identity': {
      const { authType: _authType, ...fields } = login
      const options = { ...fields, ...NO_RETRIES, httpClient, disableInstanceDiscovery: true }
      try {
        return new WorkloadIdentityCredential(options)
      } catch (error) {
        throw new RemoteFault('refused', NO_WORKLOAD_IDENTITY, { cause: sanitisedCause(error) })
      }
    }
    case 'managed_identity': {
      // The address of a managed identity is in the machine itself, where a client for untrusted urls must
      // not go.
      const { authType: _authType, ...fields } = login
      return new ManagedIdentityCredential({ ...fields, ...NO_RETRIES })
    }
  }
}

/** The way of Microsoft's libraries into the network. */
type AzureTransport = NonNullable<KeyClientOptions['httpClient']>

type AzureRequest = Parameters<AzureTransport['sendRequest']>[0]

interface TransportDeps {
  readonly http: HttpClient
  /** The limit of one request, in ms. */
  readonly timeoutMs: number
  /** The origin of the vault. Everything else is a login. */
  readonly vaultOrigin: string
  /** Hears each failed login, because the library drops its reason; undefined for one that succeeded. */
  readonly onLogin: (fault: RemoteFault | undefined) => void
}

/**
 * Creates a transport over the service's own client, with its limits and its rules for untrusted urls. A
 * failed login becomes an error immediately: the library would refuse to log in for a minute after a 5xx
 * response.
 */
export function createTransport({ http, timeoutMs, vaultOrigin, onLogin }: TransportDeps): AzureTransport {
  async function send(request: AzureRequest): Promise<PostAnswer> {
    return answered(
      http.post({
        url: request.url,
        method: methodOf(request.method),
        headers: request.headers.toJSON({ preserveCase: true }),
        body: typeof request.body === 'string' ? request.body : '',
        timeoutMs,
      }),
    )
  }

  async function logIn(request: AzureRequest): Promise<PostAnswer> {
    try {
      const answer = await send(request)
      if (answer.status !== 200)
        throw loginFailure({ status: answer.status, refused: 'the login to Microsoft Entra ID failed' })
      onLogin(undefined)
      return answer
    } catch (error) {
      if (error instanceof RemoteFault) onLogin(error)
      throw error
    }
  }

  return {
    sendRequest: async (request) => {
      const isVault = new URL(request.url).origin === vaultOrigin
      const { status, headers, body } = await (isVault ? send(request) : logIn(request))
      return { request, status, headers: createHeaders(headers), bodyAsText: body }
    },
  }
}

/** The libraries read, sign and import; nothing else may leave. */
function methodOf(method: string): 'GET' | 'POST' | 'PUT' {
  if (method === 'GET' || method === 'POST' || method === 'PUT') return method
  throw new Error(`The transport sends no ${method}.`)
}

type AzureHeaders = Parameters<AzureTransport['sendRequest']>[0]['headers']

/**
 * Makes headers in the form of Microsoft's libraries. The package that has it is theirs, and none of ours.
 */
function createHeaders(headers: Readonly<Record<string, string>>): AzureHeaders {
  const kept = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return {
    get: (name) => kept.get(name.toLowerCase()),
    has: (name) => kept.has(name.toLowerCase()),
    set: (name, value) => void kept.set(name.toLowerCase(), String(value)),
    delete: (name) => void kept.delete(name.toLowerCase()),
    toJSON: () => Object.fromEntries(kept),
    [Symbol.iterator]: () => kept[Symbol.iterator](),
  }
}
