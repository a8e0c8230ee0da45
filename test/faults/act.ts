import { privateKeyToAccount } from 'viem/accounts'
import type { Answer, Transaction } from '../support/service.ts'
import { usedNonces } from './chain-walk.ts'
import type { Ask, Content, Ledger } from './ledger.ts'
import type { Event, Price, Step } from './plan.ts'
import type { Weather } from './weather.ts'
import { ACCOUNTS, type World } from './world.ts'

/** One history under way. */
export interface Stage {
  readonly world: World
  readonly ledger: Ledger
  setWeather(weather: Weather): void
}

const GWEI = 1_000_000_000

/** What each way of paying puts into the request. The market of a chain without load is at a few gwei at most. */
const PRICES: Readonly<Record<Price, object>> = {
  none: {},
  safeLow: { speed: 'safeLow' },
  fast: { speed: 'fast' },
  fastest: { speed: 'fastest' },
  explicit: { max_fee_per_gas: 20 * GWEI, max_priority_fee_per_gas: 8 * GWEI },
  low: { max_fee_per_gas: 2 * GWEI, max_priority_fee_per_gas: 1 },
  legacy: { gas_price: 12 * GWEI },
}

/** Gas for a transfer, with room for a receiver that has code. */
const GAS_LIMIT = 60_000

/** `revert(0, 0)`. */
const REVERTING_CODE = '0x60006000fd'

const RICH = '0x21e19e0c9bab2400000'
const POOR = '0x1'

/** Lets one step happen. Resolves when it was done, or begun, as the step says. */
export async function act(stage: Stage, { event, awaited }: Step): Promise<Promise<void>[]> {
  const done = happen(stage, event)
  const isCall = event.is === 'send' || event.is === 'replace' || event.is === 'cancel'
  if (isCall && !awaited) return [done]
  await done
  return []
}

async function happen(stage: Stage, event: Event): Promise<void> {
  const { world } = stage
  switch (event.is) {
    case 'send':
      return send(stage, event)
    case 'replace':
      return change(stage, event.target, { ...PRICES[event.price], ...gasOf(event) })
    case 'cancel':
      return change(stage, event.target)
    case 'weather':
      return stage.setWeather(event.weather)
    case 'time':
      return world.advance(event.ms)
    case 'restart':
      return world.restart('stop')
    case 'kill':
      return world.restart('kill')
    default:
      return chainEvent(stage, event)
  }
}

type ChainEvent = Extract<
  Event,
  { is: 'mine' | 'reorg' | 'drop_one' | 'drop_all' | 'external' | 'drain' | 'fund' }
>

async function chainEvent(stage: Stage, event: ChainEvent): Promise<void> {
  const { anvil } = stage.world
  switch (event.is) {
    case 'mine':
      for (let count = 0; count < event.blocks; count += 1) await anvil.rpc('evm_mine')
      return
    case 'reorg':
      return void (await anvil.rpc('anvil_reorg', [event.depth, []]))
    case 'drop_all':
      return void (await anvil.rpc('anvil_dropAllTransactions'))
    case 'drop_one':
      return dropOne(stage, event.target)
    case 'external':
      return sendExternally(stage, event.account)
    case 'drain':
      return setBalance(stage.world, event.account, POOR)
    case 'fund':
      return fund(stage.world, event.account)
  }
}

/** More than any history can spend. */
export function fund(world: World, account: number): Promise<void> {
  return setBalance(world, account, RICH)
}

async function setBalance({ anvil }: World, account: number, balance: string): Promise<void> {
  await anvil.rpc('anvil_setBalance', [ACCOUNTS[account]?.address, balance])
}

async function send(stage: Stage, event: Extract<Event, { is: 'send' }>): Promise<void> {
  const { world, ledger } = stage
  const content = world.newContent()
  const ask = ledger.open({ kind: 'send', account: event.account, content })
  const validity =
    event.validForMs === undefined
      ? {}
      : { valid_until: new Date(world.now() + event.validForMs).toISOString() }
  const body = { ...bodyOf(content), ...PRICES[event.price], ...gasOf(event), ...validity }
  await call(stage, ask, { method: 'POST', path: pathOf(event.account), body })
  if (event.reverts) await world.anvil.rpc('anvil_setCode', [content.receiver, REVERTING_CODE])
}

/** A replacement, or a cancellation when there are no prices. */
async function change(stage: Stage, target: number, prices?: object): Promise<void> {
  const { world, ledger } = stage
  const chosen = targetOf(stage, target)
  if (chosen === undefined) return
  const { id, account } = chosen
  const path = `${pathOf(account)}/${id}`
  if (prices === undefined) {
    return call(stage, ledger.open({ kind: 'cancel', account, id }), { method: 'DELETE', path })
  }
  const content = world.newContent()
  const ask = ledger.open({ kind: 'replace', account, id, content })
  return call(stage, ask, { method: 'PUT', path, body: { ...bodyOf(content), ...prices } })
}

function bodyOf({ receiver, value }: Content): object {
  return { to: receiver, value }
}

function gasOf({ gas }: { gas: boolean }): object {
  return gas ? { gas_limit: GAS_LIMIT } : {}
}

function pathOf(account: number): string {
  return `/relayers/${ACCOUNTS[account]?.relayer}/transactions`
}

function targetOf({ ledger }: Stage, target: number): { id: string; account: number } | undefined {
  const ids = ledger.ids()
  return ids.at(-1 - Math.min(target, ids.length - 1))
}

interface Call {
  readonly method: string
  readonly path: string
  readonly body?: object
}

async function call({ world, ledger }: Stage, ask: Ask, { method, path, body }: Call): Promise<void> {
  try {
    const answer = await world.api(method, path, body)
    ask.said = readAnswer(answer)
    ask.answer = `${answer.status} ${answer.body.code ?? answer.body.data?.status} ${answer.body.error ?? ''}`
    if (ask.said === 'accepted') ask.id = answer.body.data.id
    if (isScandal(answer)) ledger.scandals.push(`${method} ${path} answered ${ask.answer}`)
  } catch (error) {
    // The service was not there, or ended before it answered: whether it took the request, nobody was told.
    ask.said = 'unknown'
    ask.answer = String(error)
  }
}

function readAnswer({ status, body }: Answer<Transaction>): Ask['said'] {
  if (status === 200) return 'accepted'
  return status === 400 || status === 404 || body.code === 'network_unavailable' ? 'refused' : 'unknown'
}

/** An answer that breaks the contract becomes a 500 without a better code; so does a fault of the service itself. */
function isScandal({ status, body }: Answer<Transaction>): boolean {
  if (status === 200 || status === 400) return false
  return body.code !== 'network_unavailable' && body.code !== 'request_timeout'
}

async function dropOne(stage: Stage, target: number): Promise<void> {
  const chosen = targetOf(stage, target)
  if (chosen === undefined) return
  const shown = await stage.world.api('GET', `${pathOf(chosen.account)}/${chosen.id}`).catch(() => undefined)
  const hash = shown?.body.data?.hash
  if (hash !== undefined) await stage.world.anvil.rpc('anvil_dropTransaction', [hash])
}

/** Somebody else has the same key and takes the next nonce of the chain, paying more than most of ours. */
async function sendExternally(
  { world: { anvil, newContent }, ledger }: Stage,
  account: number,
): Promise<void> {
  const { address, key } = ACCOUNTS[account] ?? ACCOUNTS[0]
  const { receiver, value } = newContent()
  const raw = await privateKeyToAccount(key).signTransaction({
    type: 'eip1559',
    chainId: 31_337,
    nonce: await usedNonces(anvil, address),
    to: receiver as `0x${string}`,
    value: BigInt(value),
    gas: 21_000n,
    maxFeePerGas: 100n * BigInt(GWEI),
    maxPriorityFeePerGas: 30n * BigInt(GWEI),
  })
  // A drained account cannot pay for it: then it simply does not happen.
  const hash = await anvil.rpc<string>('eth_sendRawTransaction', [raw]).catch(() => undefined)
  if (hash !== undefined) ledger.external.add(hash)
}
