import type { KeyClientOptions } from '@azure/keyvault-keys'
import type { HttpClient, PostAnswer } from '../../lib/http/http-client.ts'
import { answered } from '../remote/answered.ts'
import { loginFailure } from '../remote/login-failure.ts'
import { RemoteFault } from '../remote/remote-key.ts'
import { createHeaders } from './headers.ts'

/** The way of Microsoft's libraries into the network. */
export type AzureTransport = NonNullable<KeyClientOptions['httpClient']>

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
 * Creates a transport over the service's own client, with its limits and its rules for untrusted urls. A failed login becomes an error at
 * once: the library would refuse to log in for a minute after an answer of the kind 5xx.
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
