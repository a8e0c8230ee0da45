import { decodeAbiParameters, type Hex, parseAbiParameters } from 'viem'
import { isRecord, type Rpc } from '../../shared/host.ts'
import { changedCodeOf } from '../accounts/code.ts'
import { hasListedCode } from '../intent.ts'
import type { EntryPoint, NetworkSettings } from '../networks.ts'
import type { Outcome, Receipt } from '../told.ts'
import type { Content } from '../wire.ts'
import { decodeOperation, type Operation } from './abi.ts'
import { isCreation } from './creation.ts'

/**
 * `UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256
 * nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)`
 */
const USER_OPERATION = '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f'

const EVENT = parseAbiParameters('uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed')

/**
 * Finds out what the block did with an operation: the EntryPoint tells whether the call of the account was
 * made, and the account must have run listed code.
 */
export async function outcomeOfOperation(
  { content, receipt }: { readonly content: Content; readonly receipt: Receipt },
  {
    entryPoint,
    network,
    rpc,
  }: { readonly entryPoint: EntryPoint; readonly network: NetworkSettings; readonly rpc: Rpc },
): Promise<Outcome> {
  const { operation } = decodeOperation(content.data)
  const { sender } = operation
  const block = receipt.blockNumber
  const failed = (reason: string): Outcome => ({
    kind: 'told',
    receipt,
    failures: new Map([[sender, reason]]),
  })
  if (!(await hasListedCode(entryPoint, rpc, block)))
    return failed(`In the block, the code of the EntryPoint ${entryPoint.address} is not the listed one.`)
  const success = successOf(operation, entryPoint, receipt)
  if (success === undefined) return failed('Nothing was executed: the EntryPoint tells of no such operation.')
  if (!success) return failed('The EntryPoint tells that the call of the account reverted.')
  const isCreating = isCreation(operation)
  const message = await changedCodeOf(sender, { content, receipt, isCreating }, { network, rpc })
  return message === undefined
    ? { kind: 'told', receipt, failures: new Map() }
    : { kind: 'unknown', message, isByUser: true }
}

/** Returns whether the call of the account was made; undefined if the EntryPoint tells nothing of it. */
function successOf(
  { sender, nonce }: Operation,
  { address }: EntryPoint,
  { logs }: Receipt,
): boolean | undefined {
  for (const log of logs.filter(isRecord)) {
    const [topic, , account] = Array.isArray(log.topics) ? (log.topics as readonly Hex[]) : []
    const isTold = String(log.address).toLowerCase() === address && topic === USER_OPERATION
    if (!isTold || `0x${account?.slice(26).toLowerCase()}` !== sender) continue
    const [of, success] = decodeAbiParameters(EVENT, log.data as Hex)
    if (of === nonce) return success
  }
  return undefined
}
