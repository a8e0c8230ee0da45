import { loadPackage } from '../providers/load-package.ts'
import { bareCause } from '../remote/bare-cause.ts'
import { loginFailure } from '../remote/login-failure.ts'
import { RemoteFault } from '../remote/remote-key.ts'
import { SCOPE } from './service-account.ts'

/**
 * Returns the source of access tokens of the application default credentials: workload identity, the metadata server, or the file that
 * GOOGLE_APPLICATION_CREDENTIALS names. Google's library keeps the token and replaces it before its end. Without a project it would look for
 * one, which takes seconds outside of Google Cloud.
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
    throw new RemoteFault('unavailable', 'cannot be asked: the default credentials gave no token')
  }
}

/** The messages of the library can quote answers, so only the status goes on. */
function failureOf(error: unknown): RemoteFault {
  const cause = bareCause(error)
  const status = statusOf(error)
  if (status !== undefined && status >= 400)
    return loginFailure({ status, refused: 'the login by default credentials failed' }, { cause })
  if (/Could not load the default credentials/.test(String(error)))
    return new RemoteFault('refused', 'cannot be asked: there are no default credentials of Google Cloud', {
      cause,
    })
  return new RemoteFault('unavailable', 'cannot be asked: the default credentials gave no token', { cause })
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
