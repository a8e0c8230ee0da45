import type { Hex } from 'viem'
import { isRecord, type Rpc } from '../../shared/host.ts'
import { changedCodeOf } from '../accounts/code.ts'
import { hasListedCode } from '../intent.ts'
import type { DelegationManager, NetworkSettings } from '../networks.ts'
import type { Outcome, Receipt } from '../told.ts'
import type { Content } from '../wire.ts'
import { decodeRedemption } from './abi.ts'

/** `RedeemedDelegation(address indexed rootDelegator, address indexed redeemer, Delegation delegation)` */
const REDEEMED = '0x40dadaa36c6c2e3d7317e24757451ffb2d603d875f0ad5e92c5dd156573b1873'

/**
 * Finds out what the block did with a delegation: the manager tells that it was used, and reverts if a call
 * fails; the account must have run listed code.
 */
export async function outcomeOfRedemption(
  { content, receipt }: { readonly content: Content; readonly receipt: Receipt },
  {
    manager,
    network,
    rpc,
  }: { readonly manager: DelegationManager; readonly network: NetworkSettings; readonly rpc: Rpc },
): Promise<Outcome> {
  const { account } = decodeRedemption(content.data)
  const failed = (reason: string): Outcome => ({
    kind: 'told',
    receipt,
    failures: new Map([[account, reason]]),
  })
  if (!(await hasListedCode(manager, rpc, receipt.blockNumber)))
    return failed(`In the block, the code of the DelegationManager ${manager.address} is not the listed one.`)
  if (!isTold(account, manager, receipt))
    return failed('Nothing was executed: the DelegationManager tells of no use of the delegation.')
  const message = await changedCodeOf(account, { content, receipt }, { network, rpc })
  return message === undefined
    ? { kind: 'told', receipt, failures: new Map() }
    : { kind: 'unknown', message, isByUser: true }
}

function isTold(account: Hex, { address }: DelegationManager, { logs }: Receipt): boolean {
  return logs.filter(isRecord).some((log) => {
    const [topic, root] = Array.isArray(log.topics) ? (log.topics as readonly Hex[]) : []
    return (
      String(log.address).toLowerCase() === address &&
      topic === REDEEMED &&
      `0x${root?.slice(26).toLowerCase()}` === account
    )
  })
}
