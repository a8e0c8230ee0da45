import type { Chain, SourceAccount } from '../../chains/chain.ts'
import { sharesAccount } from '../policies/policy.ts'
import type { Relayer } from '../relayer.ts'
import type { SeenNonce } from './health.ts'

/**
 * Reads the next nonces of a relayer's accounts, counting what waits in the pools of nodes, on chains whose
 * nodes tell. A standby takes over in less time than a block may take: what the service signed just before is
 * in no block, and a database without the last commits would have it signed again with other nonces. An
 * account without an answer is absent, and so are those that other programs use as well.
 */
export async function readPoolNonces(
  { sequencing }: Chain,
  relayer: Relayer,
  sourceAccounts: readonly SourceAccount[],
): Promise<SeenNonce[]> {
  const read = sequencing?.pendingNonce
  if (read === undefined || sharesAccount(relayer)) return []
  const answers = await Promise.all(sourceAccounts.map(({ address }) => read(address)))
  return sourceAccounts.flatMap(({ address }, index) => {
    const chainNonce = answers[index]
    return chainNonce === undefined ? [] : [{ address, chainNonce, inPool: true }]
  })
}
