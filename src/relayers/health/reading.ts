import type { Unit } from '../../chains/chain.ts'
import { toWholeUnits } from '../../chains/whole-units.ts'
import { omitUndefined } from '../../lib/omit-undefined.ts'
import type { NetworkType } from '../../networks/network.ts'
import type { HealthFacts, SourceAccountFacts } from './health.ts'
import type { HealthSubject } from './health-store.ts'

/** The numbers that a check read. A number is absent when the check did not learn it. */
export interface HealthReading {
  readonly relayerId: string
  readonly network: string
  readonly networkType: NetworkType
  /** The spendable balance in whole coins. */
  readonly balance?: number
  /** The same, exactly, in the smallest unit. */
  readonly spendable?: bigint
  /**
   * The next nonce that the service assigns minus the next one of the chain, of the source account where they differ the most: positive
   * while nonces wait for a block, negative when another program uses the account.
   */
  readonly nonceGap?: number
}

/** Takes the numbers of a relayer from the facts of its check. */
export function readingOf(
  { relayer, assigned }: Pick<HealthSubject, 'relayer' | 'assigned'>,
  { balance, sourceAccounts }: HealthFacts,
  unit: Unit,
): HealthReading {
  return omitUndefined({
    relayerId: relayer.id,
    network: relayer.network,
    networkType: relayer.networkType,
    balance: balance.kind === 'ok' ? toWholeUnits(balance.value, unit) : undefined,
    spendable: balance.kind === 'ok' ? balance.value : undefined,
    nonceGap: widestGap(sourceAccounts, assigned),
  })
}

function widestGap(
  sourceAccounts: readonly SourceAccountFacts[],
  assigned: HealthSubject['assigned'],
): number | undefined {
  const gaps = sourceAccounts.flatMap(({ address, next }) => {
    const own = assigned.get(address)
    return own === undefined || next.kind !== 'ok' ? [] : [Number(own - next.value)]
  })
  return gaps.length === 0
    ? undefined
    : gaps.reduce((one, other) => (Math.abs(other) > Math.abs(one) ? other : one))
}
