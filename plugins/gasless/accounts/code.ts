import { type Hex, hexToBigInt, keccak256, numberToHex, slice } from 'viem'
import type { Rpc } from '../../shared/host.ts'
import { hasListedCode } from '../intent.ts'
import type { NetworkSettings } from '../networks.ts'
import type { Receipt } from '../told.ts'
import type { Content } from '../wire.ts'
import { delegateIn } from './delegation.ts'

/** Where a proxy has the address of its implementation (ERC-1967). */
const IMPLEMENTATION_SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'

/**
 * Returns undefined if an account runs a listed delegate (EIP-7702) or a listed implementation (ERC-1967) at
 * a block, and otherwise what it runs.
 */
export async function unlistedCodeOf(
  account: Hex,
  { delegates, implementations }: NetworkSettings,
  { rpc, block = 'latest' }: { readonly rpc: Rpc; readonly block?: Hex | 'latest' },
): Promise<string | undefined> {
  const code = await rpc<Hex>('eth_getCode', [account, block])
  const present = delegateIn(code)
  if (present !== undefined) {
    const delegate = delegates.get(present)
    if (delegate === undefined) return `the delegate ${present}`
    return (await hasListedCode(delegate, rpc, block)) ? undefined : `another code at ${present}`
  }
  if (code === '0x') return 'no code'
  const word = await rpc<Hex>('eth_getStorageAt', [account, IMPLEMENTATION_SLOT, block])
  const address = slice(word, 12).toLowerCase() as Hex
  const implementation = implementations.get(address)
  if (implementation === undefined) return `the implementation ${address}`
  return keccak256(code) === implementation.proxyCodeHash
    ? undefined
    : `a proxy whose own code is not the listed one`
}

/**
 * Returns undefined if an account ran listed code in the block of its request, and otherwise a sentence: where
 * its code changed in that block, nothing tells which one was executed.
 */
export async function changedCodeOf(
  account: Hex,
  { content, receipt }: { readonly content: Content; readonly receipt: Receipt },
  { network, rpc }: { readonly network: NetworkSettings; readonly rpc: Rpc },
): Promise<string | undefined> {
  const { blockNumber: block } = receipt
  const before = numberToHex(hexToBigInt(block) - 1n)
  const runs = [
    await unlistedCodeOf(account, network, { rpc, block }),
    // With an authorization, the account began in this block to run what it runs.
    ...(content.authorizations.length === 0
      ? [await unlistedCodeOf(account, network, { rpc, block: before })]
      : []),
  ].find((each) => each !== undefined)
  return runs === undefined
    ? undefined
    : `It is included. In the same block, ${account} began or ended to run ${runs}, so nothing tells which code was executed.`
}
