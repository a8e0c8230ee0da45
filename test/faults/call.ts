import type { Answer, Transaction } from '../support/service.ts'
import type { Ask, Content } from './ledger.ts'
import type { Event, Price } from './plan.ts'
import { pathOf, type Stage, targetOf } from './stage.ts'

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

/** A new transaction. */
export async function send(stage: Stage, event: Extract<Event, { is: 'send' }>): Promise<void> {
  const { world, ledger } = stage
  const content = world.newContent()
  const ask = ledger.open({
    kind: 'send',
    account: event.account,
    content,
    mayRevert: event.reverts,
    mayExpire: event.validForMs !== undefined,
  })
  const validity =
    event.validForMs === undefined
      ? {}
      : { valid_until: new Date(world.now() + event.validForMs).toISOString() }
  const body = { ...bodyOf(content), ...PRICES[event.price], ...gasOf(event), ...validity }
  await call(stage, ask, { method: 'POST', path: pathOf(event.account), body })
  if (event.reverts) await world.anvil.rpc('anvil_setCode', [content.receiver, REVERTING_CODE])
}

/** A replacement of what was accepted. Does nothing as long as nothing was. */
export async function replace(stage: Stage, event: Extract<Event, { is: 'replace' }>): Promise<void> {
  const target = targetOf(stage, event.target)
  if (target === undefined) return
  const content = stage.world.newContent()
  const ask = stage.ledger.open({ kind: 'replace', ...target, content })
  const body = { ...bodyOf(content), ...PRICES[event.price], ...gasOf(event) }
  await call(stage, ask, { method: 'PUT', path: `${pathOf(target.account)}/${target.id}`, body })
}

/** A cancellation of what was accepted. Does nothing as long as nothing was. */
export async function cancel(stage: Stage, event: Extract<Event, { is: 'cancel' }>): Promise<void> {
  const target = targetOf(stage, event.target)
  if (target === undefined) return
  const ask = stage.ledger.open({ kind: 'cancel', ...target })
  await call(stage, ask, { method: 'DELETE', path: `${pathOf(target.account)}/${target.id}` })
}

function bodyOf({ receiver, value }: Content): object {
  return { to: receiver, value }
}

function gasOf({ gas }: { gas: boolean }): object {
  return gas ? { gas_limit: GAS_LIMIT } : {}
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
