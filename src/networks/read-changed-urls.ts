import { AppError } from '../errors.ts'
import type { AddressPolicy } from '../security/guarded-lookup.ts'
import { type Network, networkId, PRIVATE_METHODS, type PrivateRpcUrl, type RpcUrl } from './network.ts'
import { untrustedRpcUrlProblem } from './untrusted-rpc-url.ts'

/** An RPC url of a caller: alone, or with its weight. */
type UntrustedRpcUrl = string | { readonly url: string; readonly weight?: number | undefined }

/** A private endpoint of a caller: its url alone, or with the method that takes the bytes. */
type UntrustedPrivateUrl =
  | string
  | { readonly url: string; readonly method?: PrivateRpcUrl['method'] | undefined }

/** The urls to change; a list that is absent stays as it is. */
export interface ChangedUrls {
  readonly rpcUrls?: readonly UntrustedRpcUrl[] | undefined
  /** Empty: the network has no private endpoints any more. */
  readonly privateRpcUrls?: readonly UntrustedPrivateUrl[] | undefined
}

/** The urls that a change replaces, or sets; an absent list is not part of it. */
export interface UrlLists {
  readonly rpcUrls?: readonly RpcUrl[] | undefined
  readonly privateRpcUrls?: readonly PrivateRpcUrl[] | undefined
}

/** The default of the configuration file. */
const DEFAULT_WEIGHT = 100

const [DEFAULT_METHOD] = PRIVATE_METHODS

/**
 * Checks the urls that a caller sent, and adds the defaults.
 * @throws AppError 400 that names the field
 */
export function readChangedUrls(
  network: Network,
  { rpcUrls, privateRpcUrls }: ChangedUrls,
  policy: AddressPolicy,
): UrlLists {
  if (privateRpcUrls && network.type !== 'evm')
    throw new AppError(
      'invalid_request',
      `body.private_rpc_urls: only EVM networks have private endpoints, and ${networkId(network)} is none; leave the field out.`,
    )
  return {
    ...(rpcUrls && { rpcUrls: readUrls(rpcUrls, policy) }),
    ...(privateRpcUrls && {
      privateRpcUrls: privateRpcUrls.map((item, index) => readPrivateUrl(item, { index, policy })),
    }),
  }
}

/** @throws AppError 400 */
function readUrls(urls: readonly UntrustedRpcUrl[], policy: AddressPolicy): RpcUrl[] {
  const read = urls.map((item, index): RpcUrl => {
    const { url, weight = DEFAULT_WEIGHT } = typeof item === 'string' ? { url: item } : item
    requireReachable(item, { path: `body.rpc_urls[${index}]`, policy })
    return { url, weight, untrusted: true }
  })
  if (read.every(({ weight }) => weight === 0))
    throw new AppError('invalid_request', 'body.rpc_urls: expected at least one url with a weight above 0.')
  return read
}

/** @throws AppError 400 */
function readPrivateUrl(
  item: UntrustedPrivateUrl,
  { index, policy }: { readonly index: number; readonly policy: AddressPolicy },
): PrivateRpcUrl {
  const { url, method = DEFAULT_METHOD } = typeof item === 'string' ? { url: item } : item
  requireReachable(item, { path: `body.private_rpc_urls[${index}]`, policy })
  return { url, method, untrusted: true }
}

/** @throws AppError 400 */
function requireReachable(
  item: string | { readonly url: string },
  { path, policy }: { readonly path: string; readonly policy: AddressPolicy },
): void {
  const [url, at] = typeof item === 'string' ? [item, path] : [item.url, `${path}.url`]
  const problem = untrustedRpcUrlProblem(url, policy)
  if (problem !== undefined) throw new AppError('invalid_request', `${at}: ${problem}.`)
}
