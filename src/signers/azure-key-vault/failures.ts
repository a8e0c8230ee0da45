import { bareCause } from '../remote/bare-cause.ts'
import { RemoteFault } from '../remote/remote-key.ts'

/** The sentences complete "Azure Key Vault key … ", by the status of the vault. */
const REFUSED: Readonly<Record<number, string>> = {
  400: 'cannot sign in this way',
  401: 'cannot be asked: the vault does not accept the login; it may belong to another tenant',
  403: 'is denied: allow keys/read and keys/sign on it (the role Key Vault Crypto User has both), enable it, and let the firewall of the vault pass',
  404: 'does not exist in this vault',
  409: 'cannot be used in its state: it may be deleted',
}

/** Translates an error of the libraries. Their messages can name tenants and users, so only the status goes on. */
export function toRemoteFault(error: unknown, loginFault: RemoteFault | undefined): RemoteFault {
  const known = faultIn(error)
  if (known !== undefined) return known
  const cause = bareCause(error)
  const status = Number((error as { readonly statusCode?: unknown } | null)?.statusCode)
  if (status === 429) return new RemoteFault('throttled', 'gets too many calls (status 429)', { cause })
  const refusal = REFUSED[status]
  if (refusal !== undefined) return new RemoteFault('refused', `${refusal} (status ${status})`, { cause })
  if (loginFault !== undefined) return loginFault
  return new RemoteFault('unavailable', 'gave no usable answer', { cause })
}

/** The libraries wrap errors of the transport. */
function faultIn(error: unknown): RemoteFault | undefined {
  if (error instanceof RemoteFault) return error
  return error instanceof Error && error.cause !== undefined ? faultIn(error.cause) : undefined
}
