import { RemoteFault } from './remote-key.ts'

interface FailedLogin {
  /** The status of the answer. */
  readonly status: number
  /** Completes "cannot be asked: …" for a login that fails until an operator acts. The status is added. */
  readonly refused: string
  /** It tells the operator where to look then. */
  readonly hint?: string
}

/** Translates the status of a failed login. A client error says that the credentials are wrong, except for 408 and 429. */
export function loginFailure({ status, refused, hint }: FailedLogin, options?: ErrorOptions): RemoteFault {
  if (status === 429) return new RemoteFault('throttled', 'gets too many logins (status 429)', options)
  if (status >= 400 && status < 500 && status !== 408) {
    const advice = hint === undefined ? '' : `; ${hint}`
    return new RemoteFault('refused', `cannot be asked: ${refused} (status ${status})${advice}`, options)
  }
  return new RemoteFault(
    'unavailable',
    `cannot be asked: the login was answered with status ${status}`,
    options,
  )
}
