import { type Hex, numberToHex } from 'viem'
import { type Delegation, MAX_CAVEATS, MAX_DELEGATIONS } from '../../shared/delegations.ts'
import { NodeError, type World } from '../../shared/host.ts'
import { authorizationsOfCall, checkAuthorization } from '../accounts/authorization.ts'
import { unlistedBehind, unlistedCodeOf } from '../accounts/code.ts'
import { RpcError, simulationFailed } from '../errors.ts'
import { hasListedCode, type Intent, intrinsicGas } from '../intent.ts'
import type { DelegationManager } from '../networks.ts'
import type { Sender } from '../sender.ts'
import type { Content } from '../wire.ts'
import { decodeRedemption, type Redemption } from './abi.ts'
import { bindDelegation } from './binding.ts'

/**
 * Reads the use of delegations (ERC-7710): the last delegate is the account of the relayer, contracts that
 * the operator lists enforce what was allowed, and the account runs listed code. The manager checks the
 * signatures, and reverts without them. @throws RpcError
 */
export async function readRedemption(
  {
    manager,
    content,
    caller,
  }: { readonly manager: DelegationManager; readonly content: Content; readonly caller: string },
  sender: Sender,
  world: World,
): Promise<Intent> {
  const redemption = decodeRedemption(content.data)
  checkDelegations(redemption, manager, sender)
  await checkOnChain(redemption, { manager, content }, sender)
  const { account, hash, calls } = redemption
  return {
    users: [
      {
        address: account,
        slots: [
          `delegation ${hash}`,
          ...(content.authorizations.length > 0 ? [`${account} authorization`] : []),
        ],
      },
    ],
    deadline: undefined,
    leastGas: intrinsicGas(content),
    maxGas: manager.maxGas,
    calls,
    // The account's code makes the calls, and the user has chosen them.
    isUncertain: true,
    bind: () => bindDelegation(hash, { chainId: content.chainId, caller }, world),
    simulate: () => simulate({ manager, content }, sender),
  }
}

function checkDelegations(
  { account, delegations }: Redemption,
  manager: DelegationManager,
  { address, own }: Sender,
): void {
  if (own.size > 1)
    throw new RpcError(
      'rejected',
      'to: delegations name the one account that uses them, and this relayer has several. Send them by a relayer with one.',
    )
  if (delegations.length > MAX_DELEGATIONS)
    throw new RpcError('tooLarge', `data: a chain may have at most ${MAX_DELEGATIONS} delegations.`)
  const [{ delegate } = { delegate: undefined }] = delegations
  if (delegate?.toLowerCase() !== address)
    throw new RpcError(
      'rejected',
      `data: the delegate is ${delegate}; expected ${address}, as relayer_getCapabilities tells as targetAddress.`,
    )
  if (own.has(account))
    throw new RpcError('rejected', `data: delegator: ${account} is an account of this relayer.`)
  for (const [index, delegation] of delegations.entries())
    checkCaveats(delegation, manager, `data: delegations[${index}]`)
  const { limits } = manager
  const isLimited = delegations.some(({ caveats }) =>
    caveats.some(({ enforcer }) => limits.has(enforcer.toLowerCase() as Hex)),
  )
  if (!isLimited)
    throw new RpcError(
      'rejected',
      `data: nothing limits how often the delegation is used; expected a caveat of ${[...limits].join(', ')}.`,
    )
}

function checkCaveats({ caveats }: Delegation, { enforcers }: DelegationManager, path: string): void {
  if (caveats.length > MAX_CAVEATS)
    throw new RpcError('tooLarge', `${path} may have at most ${MAX_CAVEATS} caveats.`)
  const other = caveats.find(({ enforcer }) => !enforcers.has(enforcer.toLowerCase() as Hex))
  if (other !== undefined)
    throw new RpcError('rejected', `${path}: ${other.enforcer} is not a listed enforcer.`)
}

interface Handled {
  readonly manager: DelegationManager
  readonly content: Content
}

async function checkOnChain(
  { account }: Redemption,
  { manager, content }: Handled,
  { rpc, network }: Sender,
): Promise<void> {
  const [authorization] = content.authorizations
  const [code, count] = await Promise.all([
    rpc<Hex>('eth_getCode', [manager.address, 'latest']),
    rpc<Hex>('eth_getTransactionCount', [account, 'latest']),
  ])
  if (code === '0x' || !(await hasListedCode(manager, rpc)))
    throw new RpcError(
      'rejected',
      `to: the code of the DelegationManager ${manager.address} is not the listed one.`,
    )
  if (authorization === undefined) {
    const runs = await unlistedCodeOf(account, network, { rpc })
    if (runs === undefined) return
    throw new RpcError(
      'rejected',
      `data: delegator: ${account} runs neither a listed delegate nor a listed implementation (it runs ${runs}).`,
    )
  }
  await checkAuthorization(authorization, { account, nonce: BigInt(count), network })
  const runs = await unlistedBehind(authorization.address, { account, network }, { rpc })
  if (runs !== undefined)
    throw new RpcError(
      'rejected',
      `authorizationList[0].address: its code is not the listed one (the account would run ${runs}).`,
    )
}

async function simulate({ manager, content }: Handled, { rpc, address }: Sender): Promise<bigint> {
  const { to, data, authorizations } = content
  const call = { from: address, to, value: '0x0', data, ...authorizationsOfCall(authorizations) }
  const [gas] = await Promise.all([
    rpc<Hex>('eth_estimateGas', [call]),
    rpc('eth_call', [{ ...call, gas: numberToHex(manager.maxGas) }, 'latest']),
  ]).catch((error: unknown) => {
    throw error instanceof NodeError ? simulationFailed(error) : error
  })
  return BigInt(gas)
}
