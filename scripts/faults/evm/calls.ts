import { type PlannedRequest, replace, send } from '../call.ts'
import type { HistoryRun } from '../history-run.ts'
import { PRICE_REFUSALS } from './endpoint-behaviour.ts'
import type { Environment } from './environment.ts'
import type { Event, Price } from './event.ts'

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

/** Those that name a price, which the service never changes. */
const NAMED: readonly Price[] = ['explicit', 'low', 'legacy']

/** Gas for a transfer, with room for a receiver that has code. */
const GAS_LIMIT = 60_000

/** `revert(0, 0)`. */
const REVERTING_CODE = '0x60006000fd'

/** A new transaction; its receiver refuses it from then on, where it is to be reverted. */
export async function sendPayment(
  environment: Environment,
  run: HistoryRun,
  event: Extract<Event, { is: 'send' }>,
): Promise<void> {
  const { account, validForMs, reverts, unwanted = false } = event
  const planned = plannedRequest(environment, event)
  await send(run, account, { ...planned, validForMs, may: { ...planned.may, mayFail: reverts || unwanted } })
  if (reverts) await environment.anvil.rpc('anvil_setCode', [planned.content.mark, REVERTING_CODE])
}

/** A replacement by another payment. */
export function replacePayment(
  environment: Environment,
  run: HistoryRun,
  event: Extract<Event, { is: 'replace' }>,
): Promise<void> {
  return replace(run, event.target, () => {
    const planned = plannedRequest(environment, event)
    return { ...planned, may: { ...planned.may, mayFail: event.unwanted === true } }
  })
}

function plannedRequest(
  { newContent, unwanted: marks }: Environment,
  { price, gas, unwanted }: { price: Price; gas: boolean; unwanted?: true },
): PlannedRequest {
  const content = newContent()
  if (unwanted) marks?.add(content.mark)
  const limit = gas ? { gas_limit: GAS_LIMIT } : {}
  const body = { to: content.mark, value: content.value, ...PRICES[price], ...limit }
  return { content, body, ...(NAMED.includes(price) && { may: { priceRefusals: PRICE_REFUSALS } }) }
}
