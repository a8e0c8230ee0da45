import { privateKeyToAccount } from 'viem/accounts'
import { captureFork } from '../../../test/support/forked.ts'
import { type HistoryRun, pathOf, targetOf } from '../history-run.ts'
import { addressesOf, CONFIRMATIONS, SHARED } from './accounts.ts'
import { usedNonces } from './chain-walk.ts'
import type { Environment } from './environment.ts'
import type { Event } from './event.ts'

/** In wei, as hex. */
const RICH = '0x21e19e0c9bab2400000'
const POOR = '0x1'

/** What an outside transaction pays, in wei: more than most of ours. */
const OUTSIDE_FEES = { maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 30_000_000_000n }

/** What happens to the chain, the pool of the node and the accounts, and not through the service. */
export type ChainEvent = Extract<
  Event,
  { is: 'mine' | 'reorg' | 'drop_one' | 'drop_all' | 'external' | 'drain' | 'fund' }
>

/** Lets it happen. */
export async function chainEvent(
  environment: Environment,
  run: HistoryRun,
  event: ChainEvent,
): Promise<void> {
  const { anvil } = environment
  switch (event.is) {
    case 'mine':
      for (let count = 0; count < event.blocks; count += 1) await anvil.rpc('evm_mine')
      return
    case 'reorg':
      return reorganise(environment, event.depth)
    case 'drop_all':
      return void (await anvil.rpc('anvil_dropAllTransactions'))
    case 'drop_one':
      return dropOne(environment, run, event.target)
    case 'external':
      return sendExternally(environment, run, event.account)
    case 'drain':
      return setBalance(environment, event.account, POOR)
    case 'fund':
      return fund(environment, event.account)
  }
}

/** The newest blocks are undone and as many empty ones stand in their place; replicas may hear of it late. */
async function reorganise({ anvil, nodes, accounts }: Environment, depth: number): Promise<void> {
  const addresses = accounts.map(({ address }) => address)
  const fork = await captureFork(anvil, { depth, addresses, staysFor: CONFIRMATIONS })
  for (const node of nodes) node.fork = fork
  await anvil.rpc('anvil_reorg', [depth, []])
}

/** More than any history can spend. */
export function fund(environment: Environment, account: number): Promise<void> {
  return setBalance(environment, account, RICH)
}

async function setBalance({ anvil, accounts }: Environment, account: number, balance: string): Promise<void> {
  const owner = accounts[account]
  for (const address of owner === undefined ? [] : addressesOf(owner))
    await anvil.rpc('anvil_setBalance', [address, balance])
}

async function dropOne({ anvil }: Environment, run: HistoryRun, target: number): Promise<void> {
  const chosen = targetOf(run, target)
  if (chosen === undefined) return
  const shown = await run.testBed
    .api('GET', `${pathOf(run.testBed, chosen.account)}/${chosen.id}`)
    .catch(() => undefined)
  const hash = shown?.body.data?.hash
  if (hash !== undefined) await anvil.rpc('anvil_dropTransaction', [hash])
}

/** A third party has the same key and takes the next nonce of the chain. */
async function sendExternally(
  { anvil, accounts, newContent }: Environment,
  { ledger }: HistoryRun,
  account: number,
): Promise<void> {
  const owner = accounts[account]
  if (owner?.relayer !== SHARED.relayer) return
  const { address, key } = owner
  const { mark, value } = newContent()
  const raw = await privateKeyToAccount(key).signTransaction({
    type: 'eip1559',
    chainId: 31_337,
    nonce: await usedNonces(anvil, address),
    to: mark as `0x${string}`,
    value: BigInt(value),
    gas: 21_000n,
    ...OUTSIDE_FEES,
  })
  // A drained account cannot pay for it: then it simply does not happen.
  const hash = await anvil.rpc<string>('eth_sendRawTransaction', [raw]).catch(() => undefined)
  if (hash !== undefined) ledger.external.add(hash)
}
