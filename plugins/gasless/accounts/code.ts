import { type Hex, hexToBigInt, keccak256, numberToHex, slice } from 'viem'
import type { Rpc } from '../../shared/host.ts'
import { hasListedCode } from '../intent.ts'
import type { NetworkSettings } from '../networks.ts'
import type { Receipt } from '../told.ts'
import type { Content } from '../wire.ts'
import { delegateIn } from './delegation.ts'

/** Where a proxy has the address of its implementation (ERC-1967). */
const IMPLEMENTATION_SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'

/** Where and when the code of an account is looked up. */
interface Look {
  readonly rpc: Rpc
  readonly block?: Hex | 'latest'
}

/**
 * Returns undefined if an account runs a listed delegate (EIP-7702) or a listed implementation (ERC-1967) at
 * a block, and otherwise what it runs.
 */
export async function unlistedCodeOf(
  account: Hex,
  network: NetworkSettings,
  { rpc, block = 'latest' }: Look,
): Promise<string | undefined> {
  const code = await rpc<Hex>('eth_getCode', [account, block])
  const present = delegateIn(code)
  if (present !== undefined) return unlistedBehind(present, { account, network }, { rpc, block })
  if (code === '0x') return NO_CODE
  const address = await implementationOf(account, { rpc, block })
  const implementation = network.implementations.get(address)
  if (implementation === undefined) return `the implementation ${address}`
  return keccak256(code) === implementation.proxyCodeHash
    ? undefined
    : `a proxy whose own code is not the listed one`
}

const NO_CODE = 'no code'

/**
 * Returns undefined if a delegate is listed, and what an account would run behind it as well; otherwise what
 * it would run.
 */
export async function unlistedBehind(
  address: Hex,
  { account, network }: { readonly account: Hex; readonly network: NetworkSettings },
  { rpc, block = 'latest' }: Look,
): Promise<string | undefined> {
  const delegate = network.delegates.get(address)
  if (delegate === undefined) return `the delegate ${address}`
  if (!(await hasListedCode(delegate, rpc, block))) return `another code at ${address}`
  if (delegate.implementations === undefined) return undefined
  const implementation = await implementationOf(account, { rpc, block })
  return delegate.implementations.has(implementation)
    ? undefined
    : `the implementation ${implementation} behind the delegate ${address}`
}

async function implementationOf(account: Hex, { rpc, block = 'latest' }: Look): Promise<Hex> {
  const word = await rpc<Hex>('eth_getStorageAt', [account, IMPLEMENTATION_SLOT, block])
  return slice(word, 12).toLowerCase() as Hex
}

/**
 * Returns undefined if an account ran listed code in the block of its request, and otherwise a sentence:
 * where its code changed in that block, nothing tells which one was executed.
 */
export async function changedCodeOf(
  account: Hex,
  {
    content,
    receipt,
    isCreating = false,
  }: { readonly content: Content; readonly receipt: Receipt; readonly isCreating?: boolean },
  { network, rpc }: { readonly network: NetworkSettings; readonly rpc: Rpc },
): Promise<string | undefined> {
  const { blockNumber: block } = receipt
  const ran = async () => {
    // With an authorization, the account began in this block to run what it runs.
    if (content.authorizations.length > 0) return undefined
    const before = numberToHex(hexToBigInt(block) - 1n)
    const code = await unlistedCodeOf(account, network, { rpc, block: before })
    return isCreating && code === NO_CODE ? undefined : code
  }
  const runs = (await unlistedCodeOf(account, network, { rpc, block })) ?? (await ran())
  return runs === undefined
    ? undefined
    : `It is included. In the same block, ${account} began or ended to run ${runs}, so nothing tells which code was executed.`
}
