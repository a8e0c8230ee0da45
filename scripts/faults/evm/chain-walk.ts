import type { Anvil } from '../../../test/support/anvil.ts'
import type { Included } from '../test-chain.ts'

/** A transaction that the chain includes; its mark is its receiver. Addresses are lower-case. */
export interface EvmIncluded extends Included {
  readonly value: bigint
}

interface WireTransaction {
  readonly hash: string
  readonly from: string
  readonly to: string | null
  readonly nonce: string
  readonly value: string
}

/** Everything in the blocks above `height`, in the order of the chain. */
export async function walkChain(anvil: Anvil, height: number): Promise<EvmIncluded[]> {
  const head = await headOf(anvil)
  const included: EvmIncluded[] = []
  for (let number = height + 1; number <= head; number += 1) {
    const tag = `0x${number.toString(16)}`
    const block = await anvil.rpc<{ transactions: WireTransaction[] }>('eth_getBlockByNumber', [tag, true])
    for (const transaction of block.transactions) included.push(await withReceipt(anvil, transaction))
  }
  return included
}

export async function headOf(anvil: Anvil): Promise<number> {
  return Number(await anvil.rpc<string>('eth_blockNumber'))
}

/** How many transactions of the account the chain includes. */
export async function usedNonces(anvil: Anvil, address: string): Promise<number> {
  return Number(await anvil.rpc<string>('eth_getTransactionCount', [address, 'latest']))
}

/** Nonces of the account that still wait in the pool. */
export async function waitingNonces(anvil: Anvil, address: string): Promise<number[]> {
  const pool =
    await anvil.rpc<Record<'pending' | 'queued', Record<string, Record<string, unknown>>>>('txpool_content')
  return [pool.pending, pool.queued].flatMap((part) =>
    Object.entries(part)
      .filter(([from]) => from.toLowerCase() === address.toLowerCase())
      .flatMap(([, byNonce]) => Object.keys(byNonce).map(Number)),
  )
}

async function withReceipt(
  anvil: Anvil,
  { hash, from, to, nonce, value }: WireTransaction,
): Promise<EvmIncluded> {
  const { status } = await anvil.rpc<{ status: string }>('eth_getTransactionReceipt', [hash])
  return {
    hash,
    sourceAccount: from.toLowerCase(),
    mark: to?.toLowerCase(),
    nonce: BigInt(nonce),
    value: BigInt(value),
    success: status === '0x1',
  }
}
