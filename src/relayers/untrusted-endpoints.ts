import { AppError } from '../errors.ts'
import type { Network, RpcUrl } from '../networks/network.ts'
import { untrustedRpcUrlProblem } from '../networks/untrusted-rpc-url.ts'
import type { ManageDeps } from './managed.ts'

/**
 * Looks at RPC urls that a caller chose for a relayer on this network. Gives what the caller should know.
 * @throws AppError 400 when a url may not be reached, or definitely serves another chain. Silence is no reason to refuse (I6).
 */
export async function checkUntrustedEndpoints(
  { verify, allowPrivateUrls }: Pick<ManageDeps, 'verify' | 'allowPrivateUrls'>,
  network: Network,
  rpcUrls: readonly RpcUrl[],
): Promise<string[]> {
  for (const [index, { url }] of rpcUrls.entries()) {
    const problem = untrustedRpcUrlProblem(url, { allowPrivate: allowPrivateUrls })
    if (problem !== undefined)
      throw new AppError('invalid_request', `custom_rpc_urls[${index}].url: ${problem}.`)
  }
  const answer = await verify({ ...network, rpcUrls })
  if (answer.kind === 'refused')
    throw new AppError('wrong_chain', `custom_rpc_urls: ${answer.refusal.detail}`)
  if (answer.kind === 'ok') return []
  return ['custom_rpc_urls: none of them answered in time; which chain they serve is not known yet.']
}
